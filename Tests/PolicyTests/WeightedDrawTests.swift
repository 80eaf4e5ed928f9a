import Policy
import Testing

/// The choice of addresses by their weights.
@Suite struct WeightedDrawTests {
    /// Shares of calls in percent, if so many calls are under way at a time and end in any order.
    private func shares(_ weights: [Int], atATime: Int) -> [Double] {
        let (draw, total) = (WeightedDraw(weights: weights), 40_000)
        var random = Xoshiro256(seed: 7)
        var (calls, counts, active) = ([Int](repeating: 0, count: weights.count), [Double](), [Int]())
        counts = calls.map { _ in 0 }
        for _ in 0..<total {
            let (one, other) = draw.pair(&random)
            let chosen = draw.prefers(one, with: calls[one], to: other, with: calls[other]) ? one : other
            counts[chosen] += 1
            calls[chosen] += 1
            active.append(chosen)
            guard active.count >= atATime else { continue }
            calls[active.remove(at: Int(random.nextFraction() * Double(active.count)))] -= 1
        }
        return counts.map { $0 * 100 / Double(total) }
    }

    @Test(
        arguments: [
            [60, 30, 10], [9, 1], [1, 1, 1, 97], [5, 4, 3, 2, 1], [1, 1], [2, 1], [100, 100, 1], [7, 7, 7, 7],
        ],
        [(1, 1.0), (2, 7.0), (4, 3.0), (8, 3.0), (16, 2.0), (64, 1.5)]
    )
    func `calls are spread by weight, however few are under way`(_ weights: [Int], _ load: (calls: Int, slack: Double))
    {
        let total = Double(weights.reduce(0, +))
        for (share, weight) in zip(shares(weights, atATime: load.calls), weights) {
            #expect(abs(share - Double(weight) * 100 / total) <= load.slack, "\(share) for \(weight) of \(weights)")
        }
    }

    @Test func `an address without a weight gets almost no calls`() {
        let shares = shares([0, 1, 1], atATime: 1)
        #expect(shares[0] < 0.5)
    }
}

/// The choice of an address by weight and load: two are drawn, and the one with fewer calls for its weight is used.
public struct WeightedDraw: Sendable {
    private let shares: [Int]
    /// The sum of the shares up to each, or `nil` if all weights are equal.
    private let sums: [Int]?

    /// Creates a draw among addresses with these weights; there must be at least two.
    public init(weights: [Int]) {
        // An address without a weight gets almost no calls (RFC 2782).
        shares = weights.map { $0 == 0 ? 1 : $0 * 1000 }
        guard weights.contains(where: { $0 != weights[0] }) else {
            sums = nil
            return
        }
        var sum = 0
        sums = shares.map { share in
            sum += share
            return sum
        }
    }

    /// Returns the indices of two addresses.
    ///
    /// Equal weights give two different ones. Otherwise both are drawn alike and may be one address: two that have to
    /// differ would favor light addresses.
    public func pair(_ random: inout Xoshiro256) -> (Int, Int) {
        guard let sums else {
            let bits = random.next()
            let first = Self.number(bits >> 32, below: shares.count)
            let second = Self.number(bits & 0xffff_ffff, below: shares.count - 1)
            return (first, second < first ? second : second + 1)
        }
        return (draw(sums, &random), draw(sums, &random))
    }

    /// Whether the address `one` has at most as many calls for its weight as `other`.
    public func prefers(_ one: Int, with calls: Int, to other: Int, with otherCalls: Int) -> Bool {
        calls * shares[other] <= otherCalls * shares[one]
    }

    /// A number from 0 up to a bound, of 32 random bits.
    private static func number(_ bits: UInt64, below bound: Int) -> Int { Int((bits * UInt64(bound)) >> 32) }

    private func draw(_ sums: [Int], _ random: inout Xoshiro256) -> Int {
        let value = Int(random.nextFraction() * Double(sums[sums.count - 1]))
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] > value { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

internal import Policy

/// The addresses of one priority, among which calls are spread.
struct AddressGroup {
    let addresses: [UpstreamAddress]
    /// The weights of all up to each, if they are not all the same.
    private let sums: [Int]?

    /// How often two are drawn before each is looked at.
    private static let draws = 4

    private init(_ addresses: [UpstreamAddress]) {
        self.addresses = addresses
        let first = addresses.first?.weight
        guard addresses.contains(where: { $0.weight != first }) else {
            sums = nil
            return
        }
        var sum = 0
        sums = addresses.map { address in
            sum += address.share
            return sum
        }
    }

    /// The groups of addresses, the one that is used first first.
    static func all(_ addresses: [UpstreamAddress]) -> [AddressGroup] {
        let groups = Dictionary(grouping: addresses, by: \.priority)
        return groups.keys.sorted().map { AddressGroup(groups[$0] ?? []) }
    }

    /// Of two that are drawn, the one with fewer calls under way; none if none fits.
    func lessBusy(_ random: inout Xoshiro256, _ filter: AddressFilter) -> UpstreamAddress? {
        guard addresses.count > 1 else { return addresses.first.flatMap { filter.fits($0) ? $0 : nil } }
        for _ in 0..<Self.draws {
            let (one, other) = drawTwo(&random)
            switch (filter.fits(one), filter.fits(other)) {
            // Those with more weight may have more.
            case (true, true): return one.calls * other.share <= other.calls * one.share ? one : other
            case (true, false): return one
            case (false, true): return other
            case (false, false): continue
            }
        }
        return next(from: Int(random.nextFraction() * Double(addresses.count)), filter)
    }

    /// Two different ones, by their weights.
    private func drawTwo(_ random: inout Xoshiro256) -> (UpstreamAddress, UpstreamAddress) {
        guard let sums else {
            let bits = random.next()
            let first = Self.number(bits >> 32, below: addresses.count)
            let second = Self.number(bits & 0xffff_ffff, below: addresses.count - 1)
            return (addresses[first], addresses[second < first ? second : second + 1])
        }
        let one = draw(sums, &random)
        for _ in 0..<Self.draws {
            let other = draw(sums, &random)
            if other !== one { return (one, other) }
        }
        return (one, one)
    }

    /// A number from 0 up to a bound, of 32 random bits.
    private static func number(_ bits: UInt64, below bound: Int) -> Int { Int((bits * UInt64(bound)) >> 32) }

    private func draw(_ sums: [Int], _ random: inout Xoshiro256) -> UpstreamAddress {
        let value = Int(random.nextFraction() * Double(sums[sums.count - 1]))
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] > value { high = middle } else { low = middle + 1 }
        }
        return addresses[low]
    }

    /// The first that fits, from a place on; none if none does.
    func next(from place: Int, _ filter: AddressFilter) -> UpstreamAddress? {
        for offset in addresses.indices {
            let address = addresses[(place + offset) % addresses.count]
            if filter.fits(address) { return address }
        }
        return nil
    }

    /// The one that belongs to a value: the same wherever it is asked, as long as that one fits (rendezvous hashing).
    func nearest(to hash: UInt64, _ filter: AddressFilter) -> UpstreamAddress? {
        var best: (score: UInt64, address: UpstreamAddress)?
        for address in addresses {
            let score = Self.mix(hash ^ address.hash)
            guard score > best?.score ?? 0 || best == nil else { continue }
            if filter.fits(address) { best = (score, address) }
        }
        return best?.address
    }

    /// Spreads the bits of a number (the finalizer of SplitMix64).
    private static func mix(_ value: UInt64) -> UInt64 {
        var bits = value
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }
}

extension UpstreamAddress {
    /// Its part of the calls; one without a weight gets almost nothing (RFC 2782).
    fileprivate var share: Int { weight == 0 ? 1 : weight * 1000 }
}

internal import Policy

/// The addresses of one priority, among which calls are spread.
struct AddressGroup {
    let addresses: [UpstreamAddress]
    private let draw: WeightedDraw

    /// How often two are drawn before each is looked at.
    private static let draws = 4

    private init(_ addresses: [UpstreamAddress]) {
        self.addresses = addresses
        draw = WeightedDraw(weights: addresses.map(\.weight))
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
            let (first, second) = draw.pair(&random)
            let (one, other) = (addresses[first], addresses[second])
            switch (filter.fits(one), filter.fits(other)) {
            case (true, true):
                return draw.prefers(first, with: one.calls, to: second, with: other.calls) ? one : other
            case (true, false): return one
            case (false, true): return other
            case (false, false): continue
            }
        }
        return next(from: Int(random.nextFraction() * Double(addresses.count)), filter)
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

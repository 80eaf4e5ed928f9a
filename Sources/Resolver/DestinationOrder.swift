internal import Bytes

/// The order in which the addresses of a name are tried (RFC 6724 §6), for at most so many of each family.
///
/// The kernel is asked for the source address of each, so the number is bounded: the owner of a name chooses how many
/// addresses the name has. The other addresses follow in the order of the DNS server.
struct DestinationOrder {
    /// The maximum number of addresses of each family that are put in order.
    static let maxOfFamily = 32

    /// Returns the source address that the kernel uses for a destination, or `nil` without a route.
    let source: (SocketAddress) -> SocketAddress?

    /// Returns the addresses, the best to try first.
    func sorted(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard addresses.count > 1 else { return addresses }
        var counts: [SocketAddress.Family: Int] = [:]
        var candidates: [Candidate] = []
        var others: [SocketAddress] = []
        for address in addresses {
            counts[address.family, default: 0] += 1
            if counts[address.family, default: 0] <= Self.maxOfFamily {
                candidates.append(Candidate(address, from: source(address), index: candidates.count))
            } else {
                others.append(address)
            }
        }
        return candidates.sorted { $0.isBetter(than: $1) }.map(\.address) + others
    }
}

/// A destination, and the values by which the rules of RFC 6724 compare it.
private struct Candidate {
    let address: SocketAddress
    private let hasSource: Bool
    private let hasScopeOfSource: Bool
    private let hasLabelOfSource: Bool
    private let precedence: Int
    private let scope: Int
    /// The number of leading bits that the destination has in common with its source; compared within IPv6 alone.
    private let commonBits: Int
    private let index: Int

    init(_ address: SocketAddress, from source: SocketAddress?, index: Int) {
        (self.address, self.index) = (address, index)
        let (destination, sourceIP) = (SortedIP(address), source.map(SortedIP.init))
        hasSource = sourceIP != nil
        hasScopeOfSource = sourceIP?.scope == destination.scope
        hasLabelOfSource = sourceIP?.policy.label == destination.policy.label
        (precedence, scope) = (destination.policy.precedence, destination.scope)
        commonBits = sourceIP?.commonBits(with: destination) ?? 0
    }

    /// Whether this destination is tried before another one.
    ///
    /// Rules 3, 4 and 7 are about deprecated, home and tunnelled addresses, which the kernel does not tell.
    func isBetter(than other: Candidate) -> Bool {
        if hasSource != other.hasSource { return hasSource }
        if hasScopeOfSource != other.hasScopeOfSource { return hasScopeOfSource }
        if hasLabelOfSource != other.hasLabelOfSource { return hasLabelOfSource }
        if precedence != other.precedence { return precedence > other.precedence }
        if scope != other.scope { return scope < other.scope }
        let areIPv6 = address.family == .ipv6 && other.address.family == .ipv6
        if areIPv6, commonBits != other.commonBits { return commonBits > other.commonBits }
        return index < other.index
    }
}

/// An IP address with its scope and its entry in the policy table (RFC 6724 §2.1, §3.1).
private struct SortedIP {
    /// Sixteen bytes; an IPv4 address is a mapped one.
    private let bytes: [UInt8]
    private let isIPv4: Bool

    init(_ address: SocketAddress) {
        isIPv4 = address.family == .ipv4
        bytes = isIPv4 ? Self.mapped + address.bytes[4..<8] : Array(address.bytes[8..<24])
    }

    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]

    /// The scope: 2 is link-local, 5 site-local, 14 global.
    var scope: Int {
        if isIPv4 || bytes.starts(with: Self.mapped) {
            return bytes[12] == 127 || bytes[12] == 169 && bytes[13] == 254 ? 2 : 14
        }
        if bytes[0] == 0xff { return Int(bytes[1] & 15) }
        if isLoopback || bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80 { return 2 }
        return bytes[0] == 0xfe && bytes[1] & 0xc0 == 0xc0 ? 5 : 14
    }

    private var isLoopback: Bool { bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1 }

    /// The precedence and the label of the default policy table.
    var policy: (precedence: Int, label: Int) {
        if isLoopback { return (50, 0) }
        if bytes.starts(with: Self.mapped) { return (35, 4) }
        if bytes.dropLast(4).allSatisfy({ $0 == 0 }) { return (1, 3) }
        switch (bytes[0], bytes[1]) {
        case (0x20, 0x02): return (30, 2)
        case (0x20, 0x01) where bytes[2] == 0 && bytes[3] == 0: return (5, 5)
        case (0xfc...0xfd, _): return (3, 13)
        case (0xfe, 0xc0...): return (1, 11)
        case (0x3f, 0xfe): return (1, 12)
        default: return (40, 1)
        }
    }

    /// The number of leading bits that both addresses have, of the first 64.
    func commonBits(with other: SortedIP) -> Int {
        for index in 0..<8 where bytes[index] != other.bytes[index] {
            return index * 8 + (bytes[index] ^ other.bytes[index]).leadingZeroBitCount
        }
        return 64
    }
}

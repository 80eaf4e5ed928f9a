import Bytes
import Testing

@testable import Resolver

/// The order of the addresses of a name (RFC 6724).
@Suite struct DestinationOrderTests {
    private func order(_ sources: [(String, String?)]) -> [String] {
        let table = Dictionary(uniqueKeysWithValues: sources.map { (address($0.0), $0.1.map(address)) })
        let order = DestinationOrder { table[$0] ?? nil }
        return order.sorted(sources.map { address($0.0) }).map { "\($0)" }
    }

    private func address(_ text: String) -> SocketAddress { SocketAddress(literal: text, port: 80)! }

    private static let examples: [(better: (String, String?), worse: (String, String?))] = [
        // RFC 6724 §10.2: the scope of the source.
        (("2001:db8:1::1", "2001:db8:1::2"), ("198.51.100.121", "169.254.13.78")),
        (("198.51.100.121", "198.51.100.117"), ("2001:db8:1::1", "fe80::1")),
        // The precedence.
        (("2001:db8:1::1", "2001:db8:1::2"), ("10.1.2.3", "10.1.2.4")),
        // The scope of the destination.
        (("fe80::1", "fe80::2"), ("2001:db8:1::1", "2001:db8:1::2")),
        // The label.
        (("2002:c633:6401::1", "2002:c633:6401::2"), ("2001:db8:1::1", "2002:c633:6401::2")),
        (("10.1.2.3", "10.1.2.4"), ("2001:db8:1::1", "fd00::2")),
        // The longest prefix.
        (("2001:db8:1::1", "2001:db8:1::2"), ("2001:db8:3ffe::1", "2001:db8:3f44::2")),
        // No route.
        (("10.1.2.3", "10.1.2.4"), ("2001:db8:1::1", nil)), (("::1", "::1"), ("127.0.0.1", nil)),
        // A unique local address, and one of 6to4.
        (("10.1.2.3", "10.1.2.4"), ("fd00::1", "fd00::2")), (("10.1.2.3", "10.1.2.4"), ("2002::1", "2002::2")),
    ]

    @Test(arguments: examples)
    func `the better address comes first`(_ better: (String, String?), _ worse: (String, String?)) {
        let expected = [better.0, worse.0].map { "\(address($0))" }
        #expect(order([better, worse]) == expected)
        #expect(order([worse, better]) == expected)
    }

    @Test func `addresses that are equally good stay in the order of the DNS server`() {
        let sources: [(String, String?)] = (1...9).map { ("10.0.0.\($0)", "10.1.0.1") }
        #expect(order(sources.reversed()) == sources.reversed().map { "\($0.0):80" })
    }

    @Test func `of thousands of addresses only the first of each family are asked for`() {
        var asked: [SocketAddress] = []
        let ipv4 = (0..<4000).map { SocketAddress.ipv4([10, 0, UInt8($0 / 256), UInt8($0 % 256)], port: 80) }
        let ipv6 = SocketAddress(literal: "2001:db8::1", port: 80)!
        let order = DestinationOrder { address in
            asked.append(address)
            return address.family == .ipv6 ? ipv6 : nil
        }
        let sorted = order.sorted(ipv4 + [ipv6])
        #expect(asked.count == DestinationOrder.maxOfFamily + 1)
        #expect(sorted.first == ipv6)
        #expect(Set(sorted) == Set(ipv4 + [ipv6]) && sorted.count == 4001)
    }

    @Test func `the kernel names the source of a loopback address, and sends nothing`() {
        let source = SourceAddress.of(.ipv4([127, 0, 0, 1], port: 80))
        #expect(source?.with(port: 0) == .ipv4([127, 0, 0, 1], port: 0))
        #expect(SourceAddress.of(.ipv4([255, 255, 255, 255], port: 80)) == nil)
    }
}

import Bytes
import Policy
import Testing
import Time

@testable import Proxy

/// What all workers know of the addresses of an upstream.
@Suite struct AddressTableTests {
    private static let addresses = (1...4).map { SocketAddress.ipv4([127, 0, 0, UInt8($0)], port: 80) }

    private func eject(_ address: SocketAddress, of table: AddressTable) {
        let pauses = AddressHealth.Pauses(first: .second, max: .second)
        _ = table.state(of: address).change("sick") {
            $0.failed(limit: 1, mayGo: true, pauses, at: .start, wasProbe: false, chance: 0)
        }
    }

    @Test func `no more than a share of the addresses may be out`() {
        let table = AddressTable("orders")
        table.keep(Self.addresses)
        for address in Self.addresses { _ = table.state(of: address) }
        #expect(table.mayEject(share: 50))
        eject(Self.addresses[0], of: table)
        #expect(table.mayEject(share: 50) && !table.mayEject(share: 25))
        eject(Self.addresses[1], of: table)
        #expect(!table.mayEject(share: 50))
    }

    @Test func `an address that is gone takes no part of the share`() {
        let table = AddressTable("orders")
        table.keep(Self.addresses)
        for address in Self.addresses { _ = table.state(of: address) }
        eject(Self.addresses[0], of: table)
        eject(Self.addresses[1], of: table)
        table.keep(Array(Self.addresses[2...]))
        #expect(table.mayEject(share: 50))
    }

    @Test func `one address may always be out`() {
        let table = AddressTable("orders")
        table.keep(Array(Self.addresses[..<1]))
        _ = table.state(of: Self.addresses[0])
        #expect(table.mayEject(share: 1))
    }
}

import Bytes
import Testing

@Suite struct SocketAddressTests {
    @Test func `literal addresses are read and written in their shortest form`() {
        let forms = [
            "127.0.0.1": "127.0.0.1:80", "0.0.0.0": "0.0.0.0:80", "::1": "[::1]:80", "::": "[::]:80",
            "1:0:0:2:0:0:0:3": "[1:0:0:2::3]:80", "2001:DB8::": "[2001:db8::]:80",
            "1:2:3:4:5:6:7:8": "[1:2:3:4:5:6:7:8]:80",
            "1:0:2:3:4:5:6:7": "[1:0:2:3:4:5:6:7]:80", "::ffff:10.0.0.1": "[::ffff:10.0.0.1]:80",
        ]
        for (text, written) in forms {
            #expect(SocketAddress(literal: text, port: 80)?.description == written)
        }
    }

    @Test func `what is not quite an address is none`() {
        let wrong = [
            "", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.+4", "1.2.3.", ":", ":::", "1::2::3",
            "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9", "12345::", "::-1", "::+1", "::g", "1.2.3.4::", "1:2:3:4:5:6:7::8", "::1%lo", "[::1]",
        ]
        for text in wrong {
            #expect(SocketAddress(literal: text, port: 80) == nil, "\(text)")
        }
    }

    @Test func `only addresses of this host are loopback`() {
        for text in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            #expect(SocketAddress(literal: text, port: 1)?.isLoopback == true)
        }
        for text in ["0.0.0.0", "10.0.0.1", "::", "::2", "1::1", "::ffff:10.0.0.1"] {
            #expect(SocketAddress(literal: text, port: 1)?.isLoopback == false)
        }
        #expect(SocketAddress.unix(path: "/run/x")?.isLoopback == true)
    }

    @Test func `an address survives its bytes`() {
        let addresses = [
            SocketAddress(literal: "10.1.2.3", port: 443), SocketAddress(literal: "fe80::1", port: 65535),
            .unix(path: "/run/a.sock"), .abstract(name: "a"),
        ]
        for case .some(let address) in addresses {
            #expect(SocketAddress(bytes: address.bytes.span) == address)
        }
        #expect(SocketAddress(bytes: [2, 0, 1].span) == nil)
        #expect(SocketAddress(bytes: [99, 0, 1, 1].span) == nil)
    }

    @Test func `the port is in network order and can be replaced`() {
        let address = SocketAddress.ipv4([127, 0, 0, 1], port: 0x1234)
        #expect(address.bytes[2...3] == [0x12, 0x34])
        #expect(address.with(port: 8080).description == "127.0.0.1:8080")
        #expect(address.with(port: 8080).port == 8080)
    }

    @Test func `Unix sockets are reported apart by path, abstract name and no name`() {
        #expect(SocketAddress.unix(path: "/run/a.sock")?.description == "unix:/run/a.sock")
        #expect(SocketAddress.abstract(name: "a")?.description == "unix:@a")
        #expect(SocketAddress(bytes: [1, 0].span)?.description == "unix:")
        #expect(SocketAddress.unix(path: String(repeating: "x", count: 108)) == nil)
        #expect(SocketAddress.unix(path: "") == nil)
    }
}

import Configuration
import Glibc
import Testing

@testable import Events

@Suite struct SystemdSocketsTests {
    @Test func `sockets are found by the names of their units`() {
        let sockets = SystemdSockets(listenPID: "77", listenFDs: "4", listenFDNames: "rpc:admin:rpc:", process: 77)
        #expect(sockets.byName == ["rpc": [3, 5], "admin": [4], "unknown": [6]])
    }

    @Test func `sockets without names are called unknown`() {
        let sockets = SystemdSockets(listenPID: "77", listenFDs: "2", listenFDNames: nil, process: 77)
        #expect(sockets.byName == ["unknown": [3, 4]])
    }

    @Test func `what is addressed to another process, or makes no sense, is nothing`() {
        let environments: [(pid: String?, count: String?)] = [
            ("78", "1"), ("", "1"), (nil, "1"), ("77", nil), ("77", "0"), ("77", "-1"), ("77", "x"), ("77", "99999999"),
        ]
        for (pid, count) in environments {
            let sockets = SystemdSockets(listenPID: pid, listenFDs: count, listenFDNames: "rpc", process: 77)
            #expect(sockets.byName.isEmpty)
        }
    }

    @Test func `only a listening stream socket will do`() throws {
        let listener = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0))
        #expect(SystemdSockets.isListening(listener.descriptor))
        let stream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let datagram = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer {
            close(stream)
            close(datagram)
        }
        #expect(!SystemdSockets.isListening(stream))
        #expect(!SystemdSockets.isListening(datagram))
        #expect(!SystemdSockets.isListening(-1))
    }

    @Test func `a socket taken over listens on and names its address`() throws {
        let original = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let adopted = ListenSocket(adopting: dup(original.descriptor))
        #expect(adopted.localAddress == original.localAddress)
        #expect(try adopted.another().localAddress == original.localAddress)
    }
}

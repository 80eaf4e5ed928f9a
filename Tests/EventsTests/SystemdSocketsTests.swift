import Bytes
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

    @Test func `what an earlier process has stored is reported from what the units pass`() {
        let names = "rpc:martlet-listener-9-2-5:martlet-listener"
        let sockets = SystemdSockets(listenPID: "77", listenFDs: "3", listenFDNames: names, process: 77)
        #expect(sockets.byName == ["rpc": [3], "martlet-listener": [5]])
        #expect(sockets.stored == [.init(name: "martlet-listener-9-2-5", descriptor: 4)])
    }

    @Test func `a stored socket is found again, shares its port with more, and keeps its name`() throws {
        let original = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0), reusePort: true)
        let stored = SystemdSockets.Stored(name: original.storeName, descriptor: dup(original.descriptor))
        let restored = try #require(ListenSocket.restored(stored))
        #expect(restored.localAddress == original.localAddress)
        #expect(restored.isHeld && !restored.isCopy)
        #expect(restored.storeName == original.storeName)
        let more = try restored.another()
        #expect(!more.isCopy && !more.isHeld)
        #expect(more.storeName != original.storeName)
    }

    @Test func `a stored socket that shares no port shares its queue`() throws {
        let original = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let stored = SystemdSockets.Stored(name: original.storeName, descriptor: dup(original.descriptor))
        #expect(try #require(ListenSocket.restored(stored)).another().isCopy)
    }

    @Test func `a stored Unix socket needs its very file, which stays when a held socket closes`() throws {
        let directory = TemporaryDirectory()
        let path = directory / "a.sock"
        let original = try ListenSocket.open(.unix(path: path))
        original.hold()
        let name = original.storeName
        let (first, second) = (dup(original.descriptor), dup(original.descriptor))
        original.close()
        let restored = try #require(ListenSocket.restored(.init(name: name, descriptor: first)))
        #expect(restored.storeName == name)
        restored.close()
        #expect(unsafe access(path, F_OK) == 0)
        #expect(unsafe rename(path, directory / "b.sock") == 0)
        #expect(ListenSocket.restored(.init(name: name, descriptor: second)) == nil)
        #expect(fcntl(second, F_GETFD) == -1)
    }

    @Test func `a discarded socket rejects callers although the service manager holds it`() throws {
        let original = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0), reusePort: true)
        let held = dup(original.descriptor)
        defer { close(held) }
        original.hold()
        let address = try #require(SocketAddress(localOf: held))
        original.discard()
        #expect(!SystemdSockets.isListening(held))
        let again = try ListenSocket.open(.tcp(host: "127.0.0.1", port: address.port ?? 0), reusePort: true)
        #expect(again.localAddress == address.description)
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

import Bytes
import Configuration
import Glibc
import Testing

@testable import Events

@Suite struct ListenerTests {
    let directory = TemporaryDirectory()

    @Test func `connections are handed over with the address they come from`() throws {
        let listening = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let loop = EventLoop()
        let host = Host()
        let listener = Listener(listening.descriptor, on: loop, owner: host)
        let callers = try (0..<40).map { _ in try connect(to: listening) }
        while host.sockets.count < callers.count { loop.turn() }
        #expect(host.addresses.allSatisfy { $0?.family == .ipv4 })
        #expect(Set(host.addresses.compactMap { $0?.bytes }).count == callers.count)
        #expect(host.sockets[0].send("hi") == .bytes(2))
        listener.end()
    }

    @Test func `connections to a Unix socket have no address`() throws {
        let listening = try ListenSocket.open(.unix(path: directory / "s"))
        let loop = EventLoop()
        let host = Host()
        let listener = Listener(listening.descriptor, on: loop, owner: host)
        let caller = try connect(to: listening)
        loop.turn()
        #expect(host.addresses == [nil])
        #expect(host.sockets[0].peerCredentials?.uid == getuid())
        #expect(caller.connectError == 0)
        listener.end()
    }

    @Test func `a listener that has ended takes nothing`() throws {
        let listening = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let loop = EventLoop()
        let host = Host()
        let listener = Listener(listening.descriptor, on: loop, owner: host)
        listener.end()
        let caller = try connect(to: listening)
        loop.turn(waiting: false)
        #expect(host.sockets.isEmpty)
        #expect(caller.peerCredentials == nil)
    }

    @Test func `a listener may end while it takes connections`() throws {
        let listening = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let loop = EventLoop()
        let host = Host()
        let listener = Listener(listening.descriptor, on: loop, owner: host)
        host.whenAccepted = { listener.end() }
        let callers = try (0..<3).map { _ in try connect(to: listening) }
        loop.turn()
        loop.turn(waiting: false)
        #expect(host.sockets.count == 1)
        #expect(callers.count == 3)
    }

    @Test func `a connection that is not taken is offered again before the others`() throws {
        let listening = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let loop = EventLoop()
        let host = Host()
        host.hasRoom = false
        let listener = Listener(listening.descriptor, on: loop, owner: host)
        let callers = try (0..<3).map { _ in try connect(to: listening) }
        while host.offers.count < 4 { loop.turn() }
        // The first waits; when its moment is over it stays, whatever the owner would like.
        #expect(host.offers == [true, false, true, false])
        #expect(host.addresses.count == 2)
        listener.finish()
        #expect(host.offers.dropFirst(4) == [false])
        #expect(host.addresses.compactMap { $0?.bytes } == callers.compactMap { local($0) })
    }

    @Test func `a connection that is offered again has the lowest number that is free by then`() throws {
        let listening = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let loop = EventLoop()
        let host = Host()
        host.hasRoom = false
        let listener = Listener(listening.descriptor, on: loop, owner: host)
        let caller = try connect(to: listening)
        let others = (0..<200).map { _ in dup(listening.descriptor) }
        while host.numbers.isEmpty { loop.turn() }
        for other in others { close(other) }
        while host.numbers.count < 2 { loop.turn() }
        #expect(host.numbers[1] < host.numbers[0])
        #expect(caller.send("hi") == .bytes(2))
        let queue = ByteQueue()
        #expect(host.sockets[0].receive(into: queue, room: 16) == .bytes(2))
        listener.end()
    }

    private func local(_ caller: Socket) -> [UInt8]? {
        SocketAddress(localOf: Int32(caller.number))?.bytes
    }

    private func connect(to listening: ListenSocket) throws -> Socket {
        let address = try #require(SocketAddress(localOf: listening.descriptor))
        return try Socket.connect(to: address).get()
    }
}

private final class Host: ListenerOwner {
    private(set) var sockets: [Socket] = []
    private(set) var addresses: [SocketAddress?] = []
    /// Each offer, by whether the connection could be offered again.
    private(set) var offers: [Bool] = []
    private(set) var numbers: [Int] = []
    var hasRoom = true
    var whenAccepted: () -> Void = {}

    func accepted(_ socket: Socket, from address: SocketAddress?, mayWait: Bool) -> Bool {
        offers.append(mayWait)
        numbers.append(socket.number)
        if mayWait && !hasRoom { return false }
        sockets.append(socket)
        addresses.append(address)
        whenAccepted()
        return true
    }

    func outOfDescriptors() -> Bool { false }
}

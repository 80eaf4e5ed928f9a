import Bytes
import Configuration
import Glibc
import Testing

@testable import Events

@Suite struct SocketTests {
    let directory = TemporaryDirectory()

    @Test func `bytes go over, and the end after them`() throws {
        let (near, far) = try pair()
        let queue = ByteQueue()
        #expect(near.receive(into: queue, room: 10) == .notNow)
        #expect(far.send("hello") == .bytes(5))
        far.endSending()
        #expect(near.receive(into: queue, room: 3) == .bytes(3))
        #expect(near.receive(into: queue, room: 10) == .bytes(2))
        #expect(queue.readable.string == "hello")
        #expect(near.receive(into: queue, room: 10) == .end)
        #expect(near.send("back") == .bytes(4))
        #expect(far.text() == "back")
    }

    @Test func `a peer that does not read is written to later`() throws {
        let (near, far) = try pair()
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        guard case .bytes(let count) = near.send(bytes.span) else { Issue.record("nothing was sent"); return }
        #expect(count < bytes.count)
        #expect(near.send(bytes.span) == .notNow)
        #expect(far.connectError == 0)
    }

    @Test func `a peer that is gone is an error and no signal`() throws {
        let (near, far) = try pair()
        far.close()
        #expect(near.send("x") == .failed(EPIPE))
    }

    @Test func `a closed socket reaches nobody, even if another has got its number`() throws {
        let (near, far) = try pair()
        near.close()
        let (other, another) = try pair()
        #expect(near.send("x") == .failed(EBADF))
        #expect(near.receive(into: ByteQueue(), room: 1) == .failed(EBADF))
        near.endSending()
        near.close()
        #expect(other.send("y") == .bytes(1))
        #expect(another.text() == "y")
        #expect(far.receive(into: ByteQueue(), room: 1) == .end)
    }

    @Test func `a connect that succeeds makes the socket writable without an error`() throws {
        let listening = try ListenSocket.open(.tcp(host: "127.0.0.1", port: 0))
        let address = try #require(SocketAddress(localOf: listening.descriptor))
        let loop = EventLoop()
        let socket = try Socket.connect(to: address).get()
        let watcher = RecordingWatcher()
        socket.start(on: loop, watcher: watcher)
        socket.watchesRead = false
        socket.watchesWrite = true
        loop.turn()
        #expect(watcher.reported == ["writable"])
        #expect(socket.connectError == 0)
        #expect(socket.peerCredentials == nil)
    }

    @Test func `a connect that is rejected says so when it has finished`() throws {
        // Other tests do not use this address, so none of them takes the port when it is free.
        let listening = try ListenSocket.open(.tcp(host: "127.0.0.97", port: 0))
        let address = try #require(SocketAddress(localOf: listening.descriptor))
        listening.close()
        let loop = EventLoop()
        let socket = try Socket.connect(to: address).get()
        let watcher = RecordingWatcher()
        socket.start(on: loop, watcher: watcher)
        socket.watchesRead = false
        socket.watchesWrite = true
        loop.turn()
        #expect(watcher.reported == ["writable"])
        #expect(socket.connectError == ECONNREFUSED)
    }

    @Test func `a Unix socket that is not there cannot be connected to`() throws {
        let address = try #require(SocketAddress.unix(path: directory / "none"))
        #expect(throws: SystemError(ENOENT)) { try Socket.connect(to: address).get() }
        #expect(SystemError(ENOENT).text == "No such file or directory")
    }

    @Test func `the peer of a Unix socket is known`() throws {
        let (near, _) = try pair()
        #expect(near.peerCredentials == PeerCredentials(uid: getuid(), gid: getgid(), pid: getpid()))
    }
}

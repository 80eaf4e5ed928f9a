import Bytes
import Events
import Glibc
import TLS
import Testing
import Time

@testable import Proxy

/// One end of a secured connection in memory, which notes what it is told.
private final class SecuredEnd: Watcher {
    let transport: TLSTransport
    /// What carries the ciphertext.
    let inner: MemoryTransport
    private let loop: EventLoop
    private(set) var isConnected = false
    private(set) var received: [UInt8] = []
    private(set) var end: Transfer?
    /// What is to be sent and has not been taken.
    private(set) var unsent: [UInt8] = []

    init(_ inner: MemoryTransport, _ context: WireContext, session: TLSSession, connecting: Bool) {
        self.inner = inner
        loop = context.loop
        transport = TLSTransport(over: inner, session, connecting: connecting, context: context)
        transport.start(on: context.loop, watcher: self)
        transport.watchesRead = false
        transport.watchesWrite = true
    }

    func readable() {
        let queue = ByteQueue()
        let outcome = transport.receive(into: queue, room: WireContext.readSize)
        received += queue.readable.array
        switch outcome {
        case .bytes, .notNow: return
        case .end, .cutOff, .failed:
            end = outcome
            transport.watchesRead = false
        }
    }

    func writable() {
        guard isConnected else {
            isConnected = true
            transport.watchesWrite = false
            transport.watchesRead = transport.connectError == 0
            return
        }
        push()
    }

    func send(_ bytes: [UInt8]) {
        unsent += bytes
        push()
    }

    private func push() {
        if case .bytes(let count) = transport.send(unsent.span) { unsent.removeFirst(count) }
        transport.watchesWrite = !unsent.isEmpty
    }
}

@Suite final class TLSTransportTests {
    private let loop = EventLoop(clock: .manual(ManualClock(now: .start + 1000 * .second)))
    private var ends: [SecuredEnd] = []

    deinit {
        // A transport and its watcher hold each other until it is closed.
        for end in ends { end.transport.close() }
    }

    private func pair(expecting name: String = "a.example") throws -> (SecuredEnd, SecuredEnd) {
        let context = WireContext(loop: loop)
        let (near, far) = (MemoryTransport(), MemoryTransport())
        MemoryTransport.join(near, far)
        let client = TLSSession(try TestCertificate.client(of: name), resuming: TLSResumption(), output: context.sealed)
        let server = TLSSession(try TestCertificate.server(), output: context.sealed)
        let made = (
            SecuredEnd(near, context, session: client, connecting: true),
            SecuredEnd(far, context, session: server, connecting: false)
        )
        ends += [made.0, made.1]
        return made
    }

    private func turn(_ ends: (SecuredEnd, SecuredEnd), times: Int = 20) {
        for _ in 0..<times {
            ends.0.inner.report()
            ends.1.inner.report()
            loop.turn(waiting: false)
        }
    }

    @Test func `the end of the handshake is reported as a connect`() throws {
        let ends = try pair()
        #expect(!ends.0.isConnected && !ends.1.isConnected)
        turn(ends)
        #expect(ends.0.isConnected && ends.1.isConnected)
        #expect(ends.0.transport.connectError == 0 && ends.1.transport.connectError == 0)
        #expect(ends.0.transport.negotiatedProtocol == "http/1.1")
    }

    @Test func `a failed handshake is reported as a failed connect`() throws {
        let ends = try pair(expecting: "b.example")
        turn(ends)
        #expect(ends.0.isConnected && ends.0.transport.connectError == EPROTO)
        #expect(ends.0.transport.error == .certificate("the certificate is not for b.example"))
        #expect(ends.1.transport.connectError == 0 || ends.1.transport.error != nil)
        #expect(ends.1.received == [])
    }

    @Test(arguments: [1, 5, 100, 5000, 17_000, 100_000])
    func `a peer that takes little at a time gets all of it, once`(_ room: Int) throws {
        let ends = try pair()
        turn(ends)
        let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        ends.1.inner.room = room
        for start in stride(from: 0, to: body.count, by: 50_000) { ends.0.send(Array(body[start..<start + 50_000])) }
        // It is told as sent only when it is: at most a piece and the last byte are ahead.
        #expect(ends.0.unsent.count >= body.count - 64 * 1024 - room)
        turn(ends, times: 600_000 / room + 100)
        #expect(ends.0.unsent.isEmpty)
        #expect(ends.1.received == body)
    }

    @Test func `what has gone before an error is told as sent`() throws {
        let ends = try pair()
        turn(ends)
        ends.1.inner.takesUntilReset = 2
        let body = [UInt8](repeating: 7, count: 200_000)
        ends.0.send(body)
        #expect(ends.0.unsent.count == body.count - 2 * 64 * 1024)
        guard case .failed(ECONNRESET) = ends.0.transport.send(body.span) else { throw Surprise() }
    }

    private struct Surprise: Error {}

    @Test func `the last byte is not reported as sent before it is`() throws {
        let ends = try pair()
        turn(ends)
        ends.1.inner.room = 0
        ends.0.send([1, 2, 3])
        #expect(ends.0.unsent.count == 3 || ends.0.unsent.count == 1)
        turn(ends)
        #expect(!ends.0.unsent.isEmpty)
        ends.1.inner.room = .max
        turn(ends)
        #expect(ends.0.unsent.isEmpty)
        #expect(ends.1.received == [1, 2, 3])
    }

    @Test func `an end that is said is an end, and one that is not is none`() throws {
        let said = try pair()
        turn(said)
        said.0.send([1])
        said.0.transport.close()
        turn(said)
        #expect(said.1.received == [1])
        #expect(said.1.end == .end)

        let cut = try pair()
        turn(cut)
        cut.0.send([1])
        cut.0.inner.endSending()
        turn(cut)
        #expect(cut.1.received == [1])
        #expect(cut.1.end == .cutOff)
    }

    @Test func `one side may end while the other goes on`() throws {
        let ends = try pair()
        turn(ends)
        ends.0.send([1])
        ends.0.transport.endSending()
        turn(ends)
        #expect(ends.1.end == .end)
        ends.1.send([2])
        turn(ends)
        #expect(ends.0.received == [2])
    }

    @Test func `an end in the handshake is a failed connect`() throws {
        let ends = try pair()
        ends.1.transport.close()
        turn(ends)
        #expect(ends.0.isConnected && ends.0.transport.connectError == ECONNABORTED)
        #expect(ends.0.transport.error == .closed)
    }

    @Test func `what has come is kept until it is expected`() throws {
        let ends = try pair()
        turn(ends)
        ends.1.transport.watchesRead = false
        ends.0.send([UInt8](repeating: 7, count: 100_000))
        ends.0.transport.close()
        turn(ends)
        #expect(ends.1.received == [])
        ends.1.transport.watchesRead = true
        turn(ends)
        #expect(ends.1.received.count == 100_000)
        #expect(ends.1.end == .end)
    }
}

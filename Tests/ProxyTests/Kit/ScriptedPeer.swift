import Bytes
import Events
import Testing

/// The other end of one of the worker's connections, a caller or an upstream, which does what the test says.
final class ScriptedPeer {
    /// How the worker's end has gone.
    enum End: Equatable { case inOrder, broken }

    private let transport: any Events.Transport
    private let breakOff: () -> Void
    private unowned let harness: ProxyHarness
    private let queue = ByteQueue()
    private var unsent: [UInt8] = []
    private(set) var isClosed = false

    /// What has come and no expectation has taken.
    private(set) var received: [UInt8] = []
    /// How the worker's end has gone, once it has.
    private(set) var end: End?
    private var reads = true

    init(_ transport: any Events.Transport, in harness: ProxyHarness, breakOff: @escaping () -> Void) {
        self.transport = transport
        self.harness = harness
        self.breakOff = breakOff
    }

    // MARK: Doing

    /// Sends text, as far as the worker takes it; the rest follows.
    func send(_ text: String) {
        send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) {
        unsent += bytes
        move()
        harness.turn()
    }

    /// How many bytes the worker has not taken yet.
    var unsentBytes: Int { unsent.count }

    func endSending() {
        transport.endSending()
        harness.turn()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        transport.close()
        harness.turn()
    }

    /// Takes nothing more, while what it has sent can still be read; in memory only.
    func rejectMore() {
        isClosed = true
        (transport as? MemoryTransport)?.rejectMore()
    }

    /// Resets the connection when the next bytes come; in memory only.
    func resetAtNext() {
        (transport as? MemoryTransport)?.takesUntilReset = 0
    }

    func reset() {
        guard !isClosed else { return }
        isClosed = true
        breakOff()
        harness.turn()
    }

    /// Reads no more; in memory, `room` bytes more find room.
    func stopReading(room: Int) {
        reads = false
        (transport as? MemoryTransport)?.room = room
    }

    /// Reads again.
    func startReading() {
        reads = true
        (transport as? MemoryTransport)?.room = .max
    }

    /// Moves what can be moved, both ways.
    func move() {
        guard !isClosed else { return }
        sendOn()
        guard reads, end == nil else { return }
        let queue = queue
        while true {
            switch transport.receive(into: queue, room: 64 * 1024) {
            case .bytes:
                received += queue.readable.array
                queue.removeAll()
            case .notNow: return
            case .end:
                end = .inOrder
                return
            case .cutOff, .failed:
                end = .broken
                return
            }
        }
    }

    private func sendOn() {
        guard !unsent.isEmpty else { return }
        let result = transport.send(unsent.span)
        if case .bytes(let count) = result { unsent.removeFirst(count) }
    }

    // MARK: Expecting

    /// Exactly this comes next.
    func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let count = text.utf8.count
        harness.until { received.count >= count || end != nil }
        let came = String(decoding: received.prefix(count), as: UTF8.self)
        if came != text {
            Issue.record("\(came.prefix(800)) instead of \(text.prefix(800))", sourceLocation: sourceLocation)
        }
        received.removeFirst(min(count, received.count))
    }

    /// Exactly these bytes come next.
    func expect(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(receive(bytes.count) == bytes, sourceLocation: sourceLocation)
    }

    /// Nothing comes.
    func expectNothing(sourceLocation: SourceLocation = #_sourceLocation) {
        harness.settle()
        #expect(String(decoding: received, as: UTF8.self) == "", sourceLocation: sourceLocation)
        #expect(end == nil, sourceLocation: sourceLocation)
    }

    /// The worker closes in order, and nothing comes before.
    func expectEnd(sourceLocation: SourceLocation = #_sourceLocation) {
        harness.until { end != nil || !received.isEmpty }
        #expect(String(decoding: received, as: UTF8.self) == "", sourceLocation: sourceLocation)
        #expect(end == .inOrder, sourceLocation: sourceLocation)
    }

    /// The worker closes, in order or not.
    func expectGone(sourceLocation: SourceLocation = #_sourceLocation) {
        harness.until { end != nil }
        #expect(end != nil, sourceLocation: sourceLocation)
    }

    /// The next head, with its empty line.
    func head(sourceLocation: SourceLocation = #_sourceLocation) -> String {
        var text: String?
        harness.until {
            text = acquireHead()
            return text != nil || end != nil
        }
        if text == nil { Issue.record("no head came", sourceLocation: sourceLocation) }
        return text ?? ""
    }

    private func acquireHead() -> String? {
        guard let last = received.index(of: Array("\r\n\r\n".utf8)) else { return nil }
        defer { received.removeFirst(last + 4) }
        return String(decoding: received[..<(last + 4)], as: UTF8.self)
    }

    /// All that has come.
    func receiveAll() -> [UInt8] {
        defer { received = [] }
        return received
    }

    /// The next `count` bytes.
    func receive(_ count: Int) -> [UInt8] {
        harness.until { received.count >= count || end != nil }
        defer { received.removeFirst(min(count, received.count)) }
        return Array(received.prefix(count))
    }
}

import HTTP2Kit
import Testing
import Time

/// The other end of one of the worker's HTTP/2 connections, a caller or an upstream: sends the frames that the test says
/// and expects those that come, in words (see `FrameReader`).
///
/// SETTINGS and WINDOW_UPDATE are not expected: they come when they come.
final class HTTP2Peer {
    let peer: ScriptedPeer
    private let reader: FrameReader
    private unowned let harness: ProxyHarness

    init(_ peer: ScriptedPeer, in harness: ProxyHarness, isCaller: Bool, settings: Frame) {
        self.peer = peer
        self.harness = harness
        reader = FrameReader(ofClient: !isCaller)
        reader.silent = [.settings, .window]
        peer.send((isCaller ? FrameReader.preface : []) + settings.bytes)
        harness.until {
            read()
            return reader.frames.contains { $0.kind == .settings } || peer.end != nil
        }
        peer.send(Frame.settingsAck.bytes)
    }

    // MARK: Doing

    /// Sends frames together, as if they came at once.
    func send(_ frames: Frame...) {
        peer.send(frames.flatMap(\.bytes))
    }

    /// Sends as many bytes of a body as the windows of the worker allow.
    ///
    /// - Returns: how many went.
    @discardableResult
    func send(body count: Int, on stream: Int) -> Int {
        var sent = 0
        while sent < count {
            read()
            let room = min(window(0) - sentBytes(0), window(stream) - sentBytes(stream), 16384, count - sent)
            guard room > 0 else { break }
            bodies[stream, default: 0] += room
            sent += room
            // In protocols with envelopes these are messages without bytes.
            send(.data(stream, [UInt8](repeating: 0, count: room)))
        }
        return sent
    }

    private var bodies: [Int: Int] = [:]

    private func sentBytes(_ stream: Int) -> Int {
        stream == 0 ? bodies.values.reduce(0, +) : bodies[stream] ?? 0
    }

    /// How many bytes the worker has allowed until now, on a stream or on the connection.
    private func window(_ stream: Int) -> Int {
        let opened = reader.frames.filter { $0.kind == .window && $0.stream == stream }
        return (stream == 0 ? 65535 : 65536) + opened.reduce(0) { $0 + $1.payload.bigEndian }
    }

    /// Responds to the last PING that has come.
    func answerPing() {
        send(.ping(reader.frames.last { $0.kind == .ping }?.payload ?? [], ack: true))
    }

    // MARK: Expecting

    /// All frames that have come.
    var frames: [Frame] {
        read()
        return reader.frames
    }

    /// How many bytes of a body have come.
    func bodyBytes(_ stream: Int) -> Int {
        frames.filter { $0.kind == .data && $0.stream == stream }.reduce(0) { $0 + $1.payload.count }
    }

    private func read() {
        reader.read(peer.receiveAll())
    }

    /// Exactly this comes next.
    func expect(_ lines: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        harness.until {
            read()
            return Array(reader.lines.prefix(lines.count)) == lines || peer.end != nil
        }
        read()
        let came = (0..<min(lines.count, reader.lines.count)).compactMap { _ in reader.receiveFirst() }
        guard came != lines else { return }
        let text = came.map { String($0.prefix(400)) }
        Issue.record("\(text) instead of \(lines.map { $0.prefix(400) })", sourceLocation: sourceLocation)
    }

    /// What comes next, whatever it is.
    func next(sourceLocation: SourceLocation = #_sourceLocation) -> String {
        harness.until {
            read()
            return !reader.lines.isEmpty || peer.end != nil
        }
        if reader.lines.isEmpty { Issue.record("nothing came", sourceLocation: sourceLocation) }
        return reader.receiveFirst() ?? ""
    }

    /// Takes what has come on a stream.
    func receiveLines(of stream: Int) -> [String] {
        read()
        return reader.receive(of: stream)
    }

    /// All that has come when whatever was to happen has happened.
    func rest() -> [String] {
        harness.settle()
        read()
        return reader.receive()
    }

    /// Nothing comes.
    func expectNothing(sourceLocation: SourceLocation = #_sourceLocation) {
        let rest = rest()
        #expect(rest == [], sourceLocation: sourceLocation)
        #expect(peer.end == nil, sourceLocation: sourceLocation)
    }

    /// What is still to come of request rejected, a second after its response and not before.
    func expectRejection(_ stream: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        harness.pass(.milliseconds(980))
        expectNothing(sourceLocation: sourceLocation)
        harness.pass(.milliseconds(40))
        expect("\(stream) RST_STREAM NO_ERROR", sourceLocation: sourceLocation)
    }

    /// The worker closes in order, and nothing comes before.
    func expectEnd(sourceLocation: SourceLocation = #_sourceLocation) {
        harness.until {
            read()
            return peer.end != nil || !reader.lines.isEmpty
        }
        #expect(reader.receive() == [], sourceLocation: sourceLocation)
        #expect(peer.end == .inOrder, sourceLocation: sourceLocation)
    }
}

extension ProxyHarness {
    /// A caller that has connected to a listener and speaks HTTP/2.
    func http2Caller(
        on address: String = "127.0.0.1:8080",
        _ settings: KeyValuePairs<Setting, Int> = [:]
    ) -> HTTP2Peer {
        HTTP2Peer(caller(on: address), in: self, isCaller: true, settings: .settings(settings))
    }
}

extension ScriptedUpstream {
    /// The next connection, which speaks HTTP/2.
    func acceptHTTP2(
        in harness: ProxyHarness,
        _ settings: KeyValuePairs<Setting, Int> = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> HTTP2Peer {
        HTTP2Peer(accept(sourceLocation: sourceLocation), in: harness, isCaller: false, settings: .settings(settings))
    }
}

internal import Bytes
internal import Events
internal import HTTP
internal import Telemetry
internal import Time

/// A response of lines of JSON to one reader: `application/x-ndjson`.
///
/// Its source appends lines for as long as it likes. A reader that is slower than the source loses lines: beyond a bound
/// they are dropped, and `{"lost":N}` tells the reader how many are missing there.
final class LineStream {
    /// How many bytes of lines may wait for the reader.
    static let maxBytes = 1 << 20
    /// From how many bytes on, that its connection is still to send, further lines wait here.
    private static let highWatermark = 64 * 1024

    /// Called once, when the source should stop: the reader is gone, the source has ended the stream, or the daemon stops.
    var onEnd: (() -> Void)?
    /// Called when so much waits for the reader that more would soon be lost, and when that is over.
    var onStall: ((Bool) -> Void)?
    /// Called once, when nothing is left to send, or the reader is gone.
    var onClose: (() -> Void)?

    private var buffer = LineBuffer(maxBytes: maxBytes)
    private var stream: (any HTTPStream)?
    private var isEnding = false
    private var isStalled = false
    /// Since when the reader has taken nothing, though something waits.
    private(set) var waitsSince = Instant.max
    private var isSending = false

    /// Makes a stream on an exchange whose head has been sent.
    init(on stream: any HTTPStream) {
        self.stream = stream
    }

    /// How many bytes wait.
    var bytes: Int { buffer.bytes }

    /// Sends a line, which ends with a line feed, or the number of lines that are missing.
    func append(_ item: LineBuffer.Item) {
        guard !isEnding else { return }
        buffer.append(item)
        send()
        if buffer.isEmpty { waitsSince = .max } else { waitsSince = min(waitsSince, Clock.system.now) }
        noteStall()
    }

    private func noteStall() {
        guard let onStall else { return }
        let waits = isStalled ? buffer.bytes > Self.maxBytes / 4 : buffer.bytes > Self.maxBytes / 2
        guard waits != isStalled else { return }
        isStalled = waits
        onStall(waits)
    }

    /// Ends the stream behind the lines that wait; the source appends nothing more.
    func end() {
        guard !isEnding else { return }
        isEnding = true
        onEnd.take()?()
        send()
    }

    /// The reader can be sent more.
    func drained() {
        waitsSince = .max
        send()
        noteStall()
    }

    /// Ends the stream without what waits.
    func reset() {
        let stream = stream
        wasReset()
        stream?.reset(.canceled)
    }

    /// The reader is gone.
    func wasReset() {
        stream = nil
        isEnding = true
        onEnd.take()?()
        onClose.take()?()
    }

    private func send() {
        // What is sent may have the connection say that it is drained, or gone.
        guard !isSending else { return }
        isSending = true
        defer { isSending = false }
        while let stream, stream.queuedBytes < Self.highWatermark, !stream.isCrowded {
            switch buffer.removeFirst() {
            case .line(let line): stream.send(body: line.span)
            case .lost(let count): stream.send(body: Array("{\"lost\":\(count)}\n".utf8).span)
            case nil: return finishIfEnding()
            }
        }
    }

    private func finishIfEnding() {
        guard isEnding, let stream = stream.take() else { return }
        stream.sendEnd(trailers: nil)
        onClose.take()?()
    }
}

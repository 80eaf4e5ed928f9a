internal import Bytes
internal import Events
internal import Proxy
internal import Telemetry
internal import Time

/// Where an interceptor's lines of JSON go: those of a turn of the loop together, to a writer that other threads share.
///
/// Lines that find no room there are dropped and counted. Belongs to the worker's thread.
final class LineSink: EndOfTurn {
    /// So many bytes do not wait for the end of the turn.
    private static let maxBytes = 256 * 1024

    private let writer: LineWriter?
    private let worker: WorkerServices
    private let formatter = TimestampFormatter()
    private let lines = ByteQueue()
    private var count = 0

    /// Makes one whose lines go to `destination`.
    init(_ destination: LogDestination, on worker: WorkerServices) {
        self.worker = worker
        writer = worker.lineWriters?.writer(to: destination.target, mode: destination.mode)
    }

    /// Adds a line about a call, which begins with the time; `fill` adds its other fields.
    func line(about call: Call, _ fill: (inout AccessLogLine) -> Void) {
        if lines.isEmpty { worker.atEndOfTurn(self) }
        var line = AccessLogLine(about: call, to: lines, formatter: formatter)
        fill(&line)
        line.end()
        count += 1
        if lines.count > Self.maxBytes { endOfTurn() }
    }

    /// Hands the lines of this turn to the writer.
    func endOfTurn() {
        guard count > 0 else { return }
        let lines = lines
        if writer?.write(lines.readable.array) == false { worker.linesDropped(count) }
        lines.removeAll()
        count = 0
    }
}

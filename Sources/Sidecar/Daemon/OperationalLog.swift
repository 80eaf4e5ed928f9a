internal import Bytes
internal import Configuration
internal import Events
internal import Proxy
internal import Telemetry
internal import Time

/// The log of the daemon itself, on standard error: `time level message key=value`, or with a priority in the place of the
/// time if systemd's journal reads it.
final class OperationalLog {
    private let writer: LineWriter
    private let formatter = TimestampFormatter()
    private let queue = ByteQueue()
    /// The least severe level that is written.
    var level: LogLevel

    init(_ writers: LineWriters, level: LogLevel) {
        writer = writers.writer(to: .standardError)
        self.level = level
    }

    /// Writes a line.
    func log(_ level: LogLevel, _ message: String, _ fields: (StaticString, String)...) {
        log(level, message, fields)
    }

    /// Writes what a worker has to tell.
    func log(_ notice: LogMessage) {
        log(notice.isWarning ? .warn : .info, notice.text, notice.fields.map { ($0.name, $0.value) })
    }

    private func lead(of level: LogLevel) -> LogfmtLine.Lead {
        guard !Journal.readsStandardError else { return .priority(level.priority) }
        let now = Clock.system.wall
        return .time(now, formatter)
    }

    /// Writes a line with as many fields as there are.
    func log(_ level: LogLevel, _ message: String, _ fields: [(StaticString, String)]) {
        guard level <= self.level else { return }
        let queue = queue
        let line = LogfmtLine(to: queue, lead(of: level), level.label, message)
        for (name, value) in fields { line.field(name, value) }
        line.end()
        _ = writer.write(queue.readable.array, isVital: true)
        queue.removeAll()
    }
}

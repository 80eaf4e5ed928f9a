internal import Bytes
internal import Configuration
internal import Events
internal import Telemetry
internal import Time

/// Where an interceptor's lines of JSON go: those of a turn of the loop together, to a writer that other threads share.
///
/// Lines that find no room there are dropped and counted. Belongs to the worker's thread.
final class LineSink: EndOfTurn {
    /// So many bytes do not wait for the end of the turn.
    private static let maxBytes = 256 * 1024

    private let writer: LineWriter?
    private let formatter = TimestampFormatter()
    private let lines = ByteQueue()
    private var count = 0
    private var counters: WorkerCounters?

    /// Takes the place that an option names: stdout, stderr or a file, which gets the permission bits that `mode` names.
    init(_ key: String, mode modeKey: String? = nil, of section: Section, _ context: CompileContext) {
        let target: LineWriter.Target
        switch section.string(key) {
        case "stdout": target = .standardOutput
        case "stderr": target = .standardError
        case let path:
            target = .file(path)
            if !path.hasPrefix("/") {
                let problem = "\(Diagnostic.quote(path)) is not a valid log destination"
                section.report("\(problem); write stdout, stderr or /path", at: key)
            }
            context.logFiles.append(MarkedString(path, at: section.mark(of: key)))
        }
        let mode = modeKey.flatMap { Self.mode($0, of: target, section, context) }
        writer = context.lineWriters?.writer(to: target, mode: mode)
    }

    /// The permission bits that an option names; what is wrong with them is reported.
    private static func mode(
        _ key: String,
        of target: LineWriter.Target,
        _ section: Section,
        _ context: CompileContext
    ) -> UInt32? {
        guard let mode = section.fileMode(key) else { return nil }
        guard case .file(let path) = target else {
            section.report("\"\(key)\" has no effect without a file; write to a file, or remove it", at: key)
            return nil
        }
        let first = context.logModes[path] ?? mode
        if first != mode {
            let problem = "another log sets the mode of \(path) to 0\(String(first, radix: 8))"
            section.report("\(problem); write the same mode", at: key)
        }
        context.logModes[path] = first
        return mode
    }

    /// Adds a line about a call, which begins with the time; `fill` adds its other fields.
    func line(about call: Call, _ fill: (inout AccessLogLine) -> Void) {
        if lines.isEmpty {
            counters = call.worker.counters
            call.worker.atEndOfTurn(self)
        }
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
        if writer?.write(lines.readable.array) == false { counters?.logLinesDropped(count) }
        lines.removeAll()
        count = 0
    }
}

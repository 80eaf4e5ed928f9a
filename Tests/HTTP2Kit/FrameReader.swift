/// Takes the frames that one side of a connection sends out of its bytes, and says them in words.
///
/// One line for each frame: `1 HEADERS :status: 200 | a: b`, `1 DATA hello`, `1 RST_STREAM CANCEL`, `GOAWAY 1 NO_ERROR`,
/// `WINDOW_UPDATE 5`. What ends a stream has `/end` behind its name. DATA of one stream that follow each other are one
/// line, since where a body is cut means nothing.
package final class FrameReader {
    private let hpack = HPACK.Reader()
    private var bytes: [UInt8] = []
    private var head: (Frame, [UInt8])?
    private var preface: [UInt8]

    /// What has come, in words.
    package private(set) var lines: [String] = []
    /// Frames that make no lines.
    package var silent: Set<Frame.Kind> = []
    /// The frames that have come, DATA cut as they were.
    package private(set) var frames: [Frame] = []

    /// The bytes with which a client begins.
    package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    package init(ofClient: Bool) {
        preface = ofClient ? Self.preface : []
    }

    /// Takes what the lines say until now.
    package func receive() -> [String] {
        defer { lines = [] }
        return lines
    }

    /// Takes the first line.
    package func receiveFirst() -> String? {
        lines.isEmpty ? nil : lines.removeFirst()
    }

    /// Takes what the lines say of a stream until now.
    package func receive(of stream: Int) -> [String] {
        let taken = lines.filter { $0.hasPrefix("\(stream) ") }
        lines.removeAll { $0.hasPrefix("\(stream) ") }
        return taken
    }

    package func read(_ new: [UInt8]) {
        bytes += new
        guard preface.isEmpty else {
            guard bytes.count >= preface.count else { return }
            if !bytes.starts(with: preface) { lines.append("no preface") }
            bytes.removeFirst(preface.count)
            preface = []
            return read([])
        }
        var start = 0
        while bytes.count - start >= 9 {
            let count = bytes[start..<start + 3].bigEndian
            guard bytes.count - start >= 9 + count else { break }
            let header = bytes[start..<start + 9]
            let payload = Array(bytes[start + 9..<start + 9 + count])
            start += 9 + count
            let number = header.dropFirst(5).bigEndian
            note(
                Frame(
                    type: header[header.startIndex + 3],
                    flags: header[header.startIndex + 4],
                    stream: number,
                    payload
                )
            )
        }
        bytes.removeFirst(start)
    }

    // MARK: Words

    private func note(_ frame: Frame) {
        frames.append(frame)
        switch frame.kind {
        case .headers, .continuation: note(head: frame)
        case .data: note(data: frame)
        case let kind? where silent.contains(kind): return
        default: lines.append(words(of: frame))
        }
    }

    private func note(head frame: Frame) {
        let (first, begun) = head ?? (frame, [])
        let block = begun + frame.payload
        guard frame.has(Frame.Flag.endHeaders) else {
            head = (first, block)
            return
        }
        head = nil
        let fields = hpack.fields(of: block).joined(separator: " | ")
        lines.append("\(first.stream) HEADERS\(first.has(Frame.Flag.end) ? "/end" : "") \(fields)")
    }

    private func note(data frame: Frame) {
        let prefix = "\(frame.stream) DATA "
        if lines.last?.hasPrefix(prefix) != true { lines.append(prefix) }
        lines[lines.count - 1] += frame.payload.latin1
        guard frame.has(Frame.Flag.end) else { return }
        lines.append("\(frame.stream) DATA/end " + lines.removeLast().dropFirst(prefix.count))
    }

    private func words(of frame: Frame) -> String {
        let stream = frame.stream > 0 ? "\(frame.stream) " : ""
        let ack = frame.has(Frame.Flag.ack) ? "/ack" : ""
        switch frame.kind {
        case .reset: return "\(stream)RST_STREAM \(Self.name(frame.payload.bigEndian))"
        case .settings: return ("SETTINGS\(ack)" + Self.settings(frame.payload))
        case .ping: return "PING\(ack)"
        case .goaway:
            return "GOAWAY \(frame.payload[..<4].bigEndian) \(Self.name(frame.payload[4..<8].bigEndian))"
        case .window: return "\(stream)WINDOW_UPDATE \(frame.payload.bigEndian)"
        default: return "\(stream)type \(frame.type)"
        }
    }

    private static func name(_ code: Int) -> String { Code(rawValue: code)?.name ?? "\(code)" }

    private static func settings(_ payload: [UInt8]) -> String {
        stride(from: 0, to: payload.count, by: 6).map { start in
            " \(payload[start..<start + 2].bigEndian)=\(payload[start + 2..<start + 6].bigEndian)"
        }.joined()
    }
}

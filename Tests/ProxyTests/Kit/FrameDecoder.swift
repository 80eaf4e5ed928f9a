import Bytes
import Documents
import HTTP2Kit
import RPC

/// Decodes what one stream of a peer receives into words, whatever the style.
///
/// `head`, `message hello`, `message* hello` if it is compressed, `end` of a request, `end not_found sorry` of a response
/// with ` +google.rpc.RetryInfo` for each detail, `reset CANCEL`.
final class FrameDecoder {
    private let peer: HTTP2Peer
    private let style: Style
    private let stream: Int
    private let isCaller: Bool
    private var lines: [String] = []
    private var rest: [UInt8] = []
    /// All bytes of the body.
    private(set) var body: [UInt8] = []
    /// The fields of the head.
    private(set) var head: [String: String] = [:]
    /// The trailers, wherever the style has them.
    private(set) var trailers: [String: String] = [:]

    init(_ peer: HTTP2Peer, _ style: Style, stream: Int, isCaller: Bool) {
        (self.peer, self.style, self.stream, self.isCaller) = (peer, style, stream, isCaller)
    }

    /// What has been heard and not been taken.
    var received: [String] {
        for line in peer.receiveLines(of: stream) { read(line) }
        return lines
    }

    /// Takes what comes first.
    func remove(_ count: Int) {
        lines.removeFirst(min(count, lines.count))
    }

    // MARK: Frames

    private func read(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        let content = words.count > 2 ? words[2] : ""
        let isLast = words[1].hasSuffix("/end")
        switch words[1].components("/")[0] {
        case "HEADERS": read(fields: content, isLast: isLast)
        case "DATA":
            body += content.latin1
            rest += content.latin1
            if style != .connectUnary { readMessages() }
            if isLast { readEnd() }
        case "RST_STREAM": lines.append("reset \(content)")
        default: lines.append(line)
        }
    }

    private func read(fields text: String, isLast: Bool) {
        var fields: [String: String] = [:]
        for field in text.components(" | ") {
            let parts = field.components(": ")
            fields[parts[0]] = parts.dropFirst().joined(separator: ": ")
        }
        if head.isEmpty {
            head = fields
            lines.append("head")
            if isLast, style != .connectUnary { trailers = fields }
        } else {
            trailers = fields
        }
        if isLast { readEnd() }
    }

    private func readMessages() {
        var bytes = style == .grpcWebText ? Style.bytes(ofText: rest) : rest
        while bytes.count >= 5, case let size = bytes[1..<5].bigEndian, bytes.count >= 5 + size {
            let (flags, payload) = (bytes[0], Array(bytes[5..<5 + size]))
            bytes.removeFirst(5 + size)
            switch flags {
            case 0, 1: decode(payload, isCompressed: flags == 1)
            case 2: readStreamEnd(payload)
            default: readTrailers(payload)
            }
        }
        rest = style == .grpcWebText ? Style.text(bytes) : bytes
    }

    private func decode(_ payload: [UInt8], isCompressed: Bool) {
        let message = isCompressed ? Gzip.decompressed(payload) : payload
        lines.append("message\(isCompressed ? "*" : "") \(message.latin1)")
    }

    // MARK: Ends

    private var streamEnd: [UInt8]?

    private func readStreamEnd(_ payload: [UInt8]) {
        streamEnd = payload
        guard case .object(let members)? = (try? JSON.parse(payload.span))?["metadata"] else { return }
        for member in members { trailers[member.name] = member.value.pointer("/0")?.string }
    }

    private func readTrailers(_ payload: [UInt8]) {
        for line in payload.latin1.components("\r\n") where !line.isEmpty {
            let parts = line.components(": ")
            trailers[parts[0]] = parts.dropFirst().joined(separator: ": ")
        }
    }

    private func readEnd() {
        if style == .connectUnary, !isCaller || head[":status"] == "200" {
            decode(rest, isCompressed: head["content-encoding"] == "gzip" && !rest.isEmpty)
        }
        guard isCaller else { return lines.append("end") }
        switch style {
        case .connectUnary:
            for (name, value) in head where name.hasPrefix("trailer-") { trailers[String(name.dropFirst(8))] = value }
            lines.append(head[":status"] == "200" ? "end ok" : end(ofJSON: try? JSON.parse(rest.span)))
        case .connectStream:
            lines.append(streamEnd.map { end(ofJSON: (try? JSON.parse($0.span))?["error"]) } ?? "end without a word")
        default: lines.append(endOfGRPC)
        }
    }

    private func end(ofJSON error: JSONValue?) -> String {
        guard let error else { return "end ok" }
        var words = "end \(error["code"]?.string ?? "?") \(error["message"]?.string ?? "")"
        if case .array(let details)? = error["details"] {
            for detail in details { words += " +\(detail["type"]?.string ?? "?")" }
        }
        return words
    }

    private var endOfGRPC: String {
        guard let status = trailers["grpc-status"].flatMap({ UInt8($0) }), let code = RPCCode(rawValue: status) else {
            return "end without a word"
        }
        guard code != .ok else { return "end ok" }
        let field = Array((trailers["grpc-status-details-bin"] ?? "").utf8)
        let details = ErrorDetail.details(grpcStatusDetails: field.span) ?? []
        let message = PercentEncoding.decode(Array((trailers["grpc-message"] ?? "").utf8).span)
        return "end \(code.name) \(message.latin1)" + details.map { " +\($0.type)" }.joined()
    }
}

extension String {
    /// The parts between these separators.
    func components(_ separator: String) -> [String] {
        let (bytes, separator) = (Array(utf8), Array(separator.utf8))
        var parts: [String] = []
        var start = 0
        while let end = bytes.index(of: separator, from: start) {
            parts.append(String(decoding: bytes[start..<end], as: UTF8.self))
            start = end + separator.count
        }
        return parts + [String(decoding: bytes[start...], as: UTF8.self)]
    }
}

extension [UInt8] {
    /// Where these bytes begin for the first time, from `start` on.
    func index(of part: [UInt8], from start: Int = 0) -> Int? {
        // The search of the library takes many times longer where it is not optimized.
        guard count - start >= part.count else { return nil }
        search: for index in start...count - part.count where self[index] == part[0] {
            for offset in 1..<part.count where self[index + offset] != part[offset] { continue search }
            return index
        }
        return nil
    }
}

import Bytes
import Documents
import HTTP2Kit
import Protocols
import RPC

/// What a caller has got of a response, read off the wire by nothing of Martlet's, and what a client of its protocol makes
/// of it.
struct CallerView {
    var status = 0
    var fields: [String: String] = [:]
    var body: [UInt8] = []
    var trailers: [String: String] = [:]
    /// Whether the response came to its end.
    var isWhole = false
    /// Whether it was broken off.
    var isBroken = false

    /// The code that a client reports; nil if the response was interrupted, which no client takes for a success.
    func code(_ rpcProtocol: RPCProtocol) -> RPCCode? {
        guard isWhole else { return nil }
        switch rpcProtocol {
        case .http: return status < 400 ? .ok : codeOfJSON
        case .connectUnary, .connectGet: return status != 200 ? codeOfJSON : isOf(rpcProtocol) ? .ok : .unknown
        case .connectStream: return isOf(rpcProtocol) ? codeOfStream : RPCCode(inferredFromStatus: status)
        case .grpc:
            guard isOf(rpcProtocol) else { return foreignCode }
            let code = codeOfGRPC(trailers.isEmpty ? fields : trailers)
            return code == .ok && !isReadable ? .internal : code
        case .grpcWeb, .grpcWebText: return isOf(rpcProtocol) ? codeOfWeb : foreignCode
        }
    }

    /// The trailers, wherever the protocol has them.
    func allTrailers(_ rpcProtocol: RPCProtocol) -> [String: String] {
        switch rpcProtocol {
        case .http: return trailers
        case .grpc: return fields.merging(trailers) { $1 }
        case .connectUnary, .connectGet:
            let found = fields.filter { $0.key.hasPrefix("trailer-") }
            return Dictionary(uniqueKeysWithValues: found.map { (String($0.key.dropFirst(8)), $0.value) })
        case .connectStream:
            guard case .object(let members)? = end.flatMap({ (try? JSON.parse($0.span))?["metadata"] }) else {
                return [:]
            }
            let pairs = members.map { ($0.name, $0.value.pointer("/0")?.string ?? "") }
            return Dictionary(pairs) { first, _ in first }
        case .grpcWeb, .grpcWebText: return end.map(Self.lines) ?? [:]
        }
    }

    private func isOf(_ rpcProtocol: RPCProtocol) -> Bool {
        let type = fields["content-type"] ?? ""
        return status == 200 && type.hasPrefix(String(Spoken(rpcProtocol).contentType.prefix { $0 != "+" }))
    }

    private var foreignCode: RPCCode { status == 200 ? .unknown : RPCCode(inferredFromStatus: status) }

    private var codeOfJSON: RPCCode {
        let name = (try? JSON.parse(body.span))?["code"]?.string
        return name.flatMap { RPCCode(name: $0) } ?? RPCCode(inferredFromStatus: status)
    }

    // MARK: Envelopes

    private var frames: [(flags: UInt8, payload: [UInt8])]? {
        var rest = (fields["content-type"] ?? "").contains("web-text") ? Style.bytes(ofText: body) : body
        var frames: [(UInt8, [UInt8])] = []
        while !rest.isEmpty {
            guard rest.count >= 5, case let size = rest[1..<5].bigEndian, rest.count >= 5 + size else { return nil }
            frames.append((rest[0], Array(rest[5..<5 + size])))
            rest.removeFirst(5 + size)
        }
        return frames
    }

    /// Whether the messages are whole, and nothing is compressed without a word.
    private var isReadable: Bool {
        guard let frames else { return false }
        let isAskedHow = fields.keys.contains { $0.hasSuffix("-encoding") && $0 != "transfer-encoding" }
        return isAskedHow || frames.allSatisfy { $0.flags & 1 == 0 }
    }

    private var end: [UInt8]? {
        frames?.last { $0.flags & 0x82 != 0 }?.payload
    }

    private var codeOfStream: RPCCode {
        guard isReadable, let end, let value = try? JSON.parse(end.span) else { return .internal }
        guard let error = value["error"] else { return .ok }
        return error["code"]?.string.flatMap { RPCCode(name: $0) } ?? .unknown
    }

    private var codeOfWeb: RPCCode {
        guard isReadable, let frames else { return .internal }
        if let end { return codeOfGRPC(Self.lines(end)) }
        return frames.isEmpty ? codeOfGRPC(fields) : .unknown
    }

    private func codeOfGRPC(_ fields: [String: String]) -> RPCCode {
        fields["grpc-status"].flatMap { UInt8($0) }.flatMap { RPCCode(rawValue: $0) } ?? .unknown
    }

    private static func lines(_ payload: [UInt8]) -> [String: String] {
        var fields: [String: String] = [:]
        for line in payload.latin1.components("\r\n") where !line.isEmpty {
            let parts = line.components(": ")
            fields[parts[0]] = parts.dropFirst().joined(separator: ": ")
        }
        return fields
    }
}

// MARK: Off the wire

extension CallerView {
    /// Reads on in the frames of a stream, in the words of `FrameReader`.
    mutating func read(_ lines: [String]) {
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            let content = words.count > 2 ? words[2] : ""
            switch words[1].components("/")[0] {
            case "HEADERS":
                let read = Self.fields(content.components(" | "))
                if status == 0 {
                    status = Int(read[":status"] ?? "") ?? 0
                    fields = read
                } else {
                    trailers = read
                }
            case "DATA": body += content.latin1
            case "RST_STREAM" where !isWhole: isBroken = true
            default: break
            }
            if words[1].hasSuffix("/end") { isWhole = true }
        }
    }

    private static func fields(_ lines: [String]) -> [String: String] {
        var fields: [String: String] = [:]
        for line in lines {
            let parts = line.components(": ")
            fields[parts[0]] = parts.dropFirst().joined(separator: ": ")
        }
        return fields
    }

    /// Reads all that has come on a connection of HTTP/1.1.
    init(_ bytes: [UInt8], hasEnded: Bool) {
        isBroken = hasEnded
        guard let end = bytes.index(of: "\r\n\r\n".latin1) else { return }
        let lines = bytes[..<end].latin1.components("\r\n")
        status = Int(lines[0].components(" ")[1]) ?? 0
        fields = Self.fields(lines.dropFirst().map { $0.lowercasedName })
        let rest = Array(bytes[(end + 4)...])
        guard fields["transfer-encoding"] != "chunked" else {
            readChunks(rest)
            return
        }
        body = rest
        guard let length = fields["content-length"].flatMap({ Int($0) }) else {
            isWhole = hasEnded
            return
        }
        isWhole = body.count >= length
        if isWhole { isBroken = false }
    }

    private mutating func readChunks(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let lineEnd = rest.firstIndex(of: 10) {
            guard let size = Int(rest[..<(lineEnd - 1)].latin1, radix: 16) else { return }
            rest = rest[(lineEnd + 1)...]
            if size == 0 {
                let tail = rest.latin1
                guard tail.hasPrefix("\r\n") || tail.contains("\r\n\r\n") else { return }
                trailers = Self.fields(tail.components("\r\n").filter { !$0.isEmpty })
                (isWhole, isBroken) = (true, false)
                return
            }
            guard rest.count >= size + 2 else { return }
            body += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
    }
}

extension String {
    /// A field's line with its name in small letters.
    fileprivate var lowercasedName: String {
        let parts = components(": ")
        return ([parts[0].lowercased()] + parts.dropFirst()).joined(separator: ": ")
    }
}

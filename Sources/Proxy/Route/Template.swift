public import Bytes
public import Configuration
internal import Events
private import Glibc
internal import HTTP
internal import Protocols

/// A value with parts that are filled in for each call: `Bearer {env:TOKEN}`, `{header:x-tenant}`, `{host}`.
///
/// `{{` and `}}` are braces. Environment variables are read at load. Belongs to the thread that made it.
public final class Template {
    enum Piece {
        case text([UInt8])
        case header(FieldName)
        case host, upstreamHost, path, service, method, peerUser, peerGroup, callID
    }

    private(set) var pieces: [Piece] = []
    private let allowsControls: Bool

    /// Parses `text`; what is wrong with it is reported at `mark`.
    public convenience init(_ text: String, at mark: Mark, into diagnostics: Diagnostics) {
        self.init(text, at: mark, allowsControls: false, into: diagnostics)
    }

    /// Parses `text`, which may have line breaks where it does not come to stand in a header.
    init(_ text: String, at mark: Mark, allowsControls: Bool, into diagnostics: Diagnostics) {
        self.allowsControls = allowsControls
        if !allowsControls { HeaderValue.check(text, at: mark, into: diagnostics) }
        var literal: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let isBrace = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
            if isBrace, rest.first == byte {
                rest.removeFirst()
                literal.append(byte)
            } else if byte == UInt8(ascii: "{") {
                guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else {
                    diagnostics.report("a \"{\" has no \"}\"; write \"{{\" for a plain brace", at: mark)
                    return
                }
                pieces.append(.text(literal))
                literal = []
                parse(String(decoding: rest[..<end], as: UTF8.self), at: mark, into: diagnostics)
                rest = rest[(end + 1)...]
            } else if byte == UInt8(ascii: "}") {
                diagnostics.report("a \"}\" has no \"{\"; write \"}}\" for a plain brace", at: mark)
            } else {
                literal.append(byte)
            }
        }
        pieces.append(.text(literal))
        pieces.removeAll { if case .text(let bytes) = $0 { bytes.isEmpty } else { false } }
    }

    private func parse(_ name: String, at mark: Mark, into diagnostics: Diagnostics) {
        let plain: [String: Piece] = [
            "host": .host, "upstream.host": .upstreamHost, "path": .path, "service": .service, "method": .method,
            "peer.uid": .peerUser,
            "peer.gid": .peerGroup, "call.id": .callID,
        ]
        if let piece = plain[name] {
            pieces.append(piece)
        } else if name.hasPrefix("env:") {
            let variable = String(name.dropFirst(4))
            guard let value = unsafe getenv(variable) else {
                diagnostics.report(
                    "the environment variable \(variable) is not set; set it, or remove {\(name)}",
                    at: mark
                )
                return
            }
            let text = unsafe String(cString: value)
            if !allowsControls { HeaderValue.check(text, at: mark, into: diagnostics) }
            pieces.append(.text(Array(text.utf8)))
        } else if name.hasPrefix("header:"), FieldName.isValid(String(name.dropFirst(7))) {
            pieces.append(.header(FieldName(String(name.dropFirst(7)))))
        } else {
            let known = plain.keys.sorted() + ["env:NAME", "header:name"]
            // What is no name at all may be a secret with braces in it.
            let isName = name.utf8.allSatisfy {
                0x61...0x7a ~= $0 || $0 == 0x2e || $0 == 0x3a || $0 == 0x5f || $0 == 0x2d
            }
            let what = isName ? "{\(name)}" : "the placeholder"
            diagnostics.report(
                "\(what) is unknown; \(Suggestion.text(for: isName ? name : "", among: known))",
                at: mark
            )
        }
    }

    /// The value where no part of it depends on the call; none where one does.
    public var constant: [UInt8]? {
        var constant: [UInt8] = []
        for piece in pieces {
            // What an environment variable holds is a piece of its own.
            guard case .text(let bytes) = piece else { return nil }
            constant += bytes
        }
        return constant
    }

    /// The texts that are the same for every call.
    var texts: [[UInt8]] {
        pieces.compactMap { if case .text(let bytes) = $0 { bytes } else { nil } }
    }

    /// The text that every value begins with; none if the call has a say in that.
    var beginning: [UInt8]? {
        guard let first = pieces.first else { return [] }
        if case .text(let bytes) = first { return bytes }
        return nil
    }

    /// Appends the value for a call; a part that the call does not have is empty.
    public func render(for call: Call, to queue: ByteQueue) {
        for piece in pieces { append(piece, of: call, to: queue) }
    }

    /// Appends the value as part of a URL: what comes from the call is escaped, so that it ends nothing and adds nothing.
    ///
    /// - Parameters:
    ///   - call: the call; none gives what is the same for all.
    ///   - queue: where the value goes.
    ///   - isPath: whether it stands in the path, where the path of the call keeps its slashes.
    func renderURL(for call: Call?, to queue: ByteQueue, isPath: Bool) {
        let raw = ByteQueue()
        for piece in pieces {
            if case .text(let bytes) = piece { queue.append(bytes) }
            guard let call else { continue }
            switch piece {
            case .text: break
            case .path where isPath: append(piece, of: call, to: queue)
            default:
                append(piece, of: call, to: raw)
                queue.append(escaping: raw.readable)
                raw.removeAll()
            }
        }
    }

    private func append(_ piece: Piece, of call: Call, to queue: ByteQueue) {
        let request = call.request
        switch piece {
        case .text(let bytes): queue.append(bytes)
        case .header(let name):
            if let index = request.first(name) { queue.append(request.value(at: index)) }
        case .host: queue.append(request.receivedAuthority)
        case .upstreamHost: queue.append(request.authority)
        case .path: queue.append(request.path)
        case .service:
            if let procedure = call.classification.procedure {
                queue.append(request.path.extracting(procedure.service))
            }
        case .method:
            if let procedure = call.classification.procedure {
                queue.append(request.path.extracting(procedure.method))
            }
        case .peerUser:
            if let peer = call.peer.credentials { queue.append(decimal: Int(peer.uid)) }
        case .peerGroup:
            if let peer = call.peer.credentials { queue.append(decimal: Int(peer.gid)) }
        case .callID: call.appendID(to: queue)
        }
    }
}

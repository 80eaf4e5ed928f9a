public import Bytes
public import Configuration
internal import Events
internal import HTTP
internal import Protocols

/// A value with parts that are filled in for each call: `Bearer {env:TOKEN}`, `{header:x-tenant}`, `{host}`.
///
/// `{{` and `}}` are braces. Environment variables are read at load. Safe on any thread.
public final class Template: Sendable {
    enum Piece: Sendable {
        case text([UInt8])
        case header(FieldName)
        case host, upstreamHost, path, service, method, peerUser, peerGroup, callID
        /// A parameter of the named call that the template belongs to, by its number.
        case parameter(Int)
    }

    let pieces: [Piece]

    /// Parses `text`; what is wrong with it is reported at `mark`.
    public convenience init(_ text: String, at mark: Mark, into diagnostics: Diagnostics) {
        self.init(text, at: mark, allowsControls: false, into: diagnostics)
    }

    /// Parses `text`, which may have line breaks where it does not come to stand in a header.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - mark: where it stands.
    ///   - allowsControls: whether it may have line breaks.
    ///   - others: what else can stand in braces, which somebody else reads; errors name it.
    ///   - parameters: the names of the named call's parameters, which stand in braces as well.
    ///   - diagnostics: what is told of what is wrong.
    public init(
        _ text: String,
        at mark: Mark,
        allowsControls: Bool,
        besides others: [String] = [],
        parameters: [String] = [],
        into diagnostics: Diagnostics
    ) {
        var parser = TemplateParser(
            allowsControls: allowsControls,
            others: others,
            parameters: parameters,
            mark: mark,
            diagnostics: diagnostics
        )
        pieces = parser.parse(text)
    }

    private init(_ pieces: [Piece]) { self.pieces = pieces }

    /// An equal template that shares no memory with this one, for a thread whose counts of references no other is to change.
    public var copy: Template {
        Template(
            pieces.map { piece in
                switch piece {
                case .text(let bytes): .text(bytes.map { $0 })
                case .header(let name): .header(name.copy)
                default: piece
                }
            }
        )
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
    public var texts: [[UInt8]] {
        pieces.compactMap { if case .text(let bytes) = $0 { bytes } else { nil } }
    }

    /// The text that every value begins with; none if the call has a say in that.
    public var beginning: [UInt8]? {
        guard let first = pieces.first else { return [] }
        if case .text(let bytes) = first { return bytes }
        return nil
    }

    /// Appends the value for a call; a part that the call does not have is empty.
    public func render(for call: Call, to queue: ByteQueue) {
        for piece in pieces { append(piece, of: call, to: queue) }
    }

    /// Appends the value as it is compared: a path has one form in it, however the caller wrote it.
    public func renderNormal(for call: Call, to queue: ByteQueue) {
        for piece in pieces { appendNormal(piece, of: call, to: queue) }
    }

    /// Appends the value as it is compared, with a byte of 0 behind each part that comes from the call, so that no two values are written alike.
    public func renderKey(for call: Call, to queue: ByteQueue) {
        for piece in pieces {
            appendNormal(piece, of: call, to: queue)
            queue.append(byte: 0)
        }
    }

    private func appendNormal(_ piece: Piece, of call: Call, to queue: ByteQueue) {
        let request = call.request
        if case .path = piece { queue.append(normalPath: request.path) } else { append(piece, of: call, to: queue) }
    }

    /// Appends the value as part of a URL: what comes from the call is escaped, so that it ends nothing and adds nothing.
    ///
    /// - Parameters:
    ///   - call: the call; none gives what is the same for all.
    ///   - arguments: the values of the parameters.
    ///   - queue: where the value goes.
    ///   - isPath: whether it stands in the path, where the path of the call keeps its slashes.
    func renderURL(for call: Call?, _ arguments: CallArguments, to queue: ByteQueue, isPath: Bool) {
        let raw = ByteQueue()
        for piece in pieces {
            switch piece {
            case .text(let bytes): queue.append(bytes)
            case .parameter(let index):
                let value = arguments[index]?.text ?? []
                queue.append(escaping: value.span)
            case .path where isPath: if let call { append(piece, of: call, to: queue) }
            default:
                guard let call else { continue }
                append(piece, of: call, to: raw)
                queue.append(escaping: raw.readable)
                raw.removeAll()
            }
        }
    }

    func append(_ piece: Piece, of call: Call, to queue: ByteQueue) {
        let request = call.request
        switch piece {
        case .text(let bytes): queue.append(bytes)
        case .header(let name):
            if let index = request.first(name) { queue.append(request.value(at: index)) }
        case .host:
            let received = call.received
            queue.append(received.authority)
        case .upstreamHost: queue.append(request.authority)
        case .path: queue.append(request.path)
        case .service:
            if let procedure = call.rpcProcedure {
                queue.append(request.path.extracting(procedure.service))
            }
        case .method:
            if let procedure = call.rpcProcedure {
                queue.append(request.path.extracting(procedure.method))
            }
        case .peerUser:
            if let peer = call.peer.credentials { queue.append(decimal: Int(peer.uid)) }
        case .peerGroup:
            if let peer = call.peer.credentials { queue.append(decimal: Int(peer.gid)) }
        case .callID: call.appendID(to: queue)
        case .parameter: break  // A named call has its values, and fills it in by itself.
        }
    }
}

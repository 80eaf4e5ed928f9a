internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

/// The heads of a call whose upstream speaks another protocol than its caller.
extension HTTPHead {
    private static let contentType = FieldName("content-type")
    private static let webMark = FieldName("x-grpc-web")
    private static let connectVersion = FieldName("connect-protocol-version")
    private static let ofConnect = [connectVersion, FieldName("connect-timeout-ms")]
    private static let ofGRPC = [FieldName("grpc-timeout")]

    /// Makes the head of a request from `caller` one in the protocol of its upstream.
    ///
    /// - Returns: the name of the codec of the caller's messages.
    @discardableResult
    func translateRequest(from caller: RPCProtocol, to upstream: RPCProtocol) -> [UInt8] {
        if caller == .connectGet { takeOutQuery() }
        let codec = first(.contentType).map { caller.codecName(in: value(at: $0)) } ?? []
        set(Self.contentType, upstream.contentType(codec.span).span)
        move(caller.encodingName, to: upstream.encodingName)
        translateAccepted(from: caller, to: upstream)
        for name in upstream.family == .connect ? Self.ofGRPC : Self.ofConnect { remove(name) }
        remove(Self.webMark)
        switch upstream.family {
        case .grpcWeb: add(Self.webMark, Array("1".utf8).span)
        case .connect: set(Self.connectVersion, Array("1".utf8).span)
        case .grpc, nil: break
        }
        acceptsTrailers = upstream == .grpc
        contentLength = nil
        return codec
    }

    /// Makes a head whose messages are converted, and so decompressed, name the codec that they get.
    func convert(to codec: Codec, in upstream: RPCProtocol) {
        set(Self.contentType, upstream.contentType(Array("\(codec)".utf8).span).span)
        removeEncoding(upstream)
        remove(upstream.acceptName)
    }

    /// Makes a Connect GET the head of a POST: says in fields what the query says of its message.
    private func takeOutQuery() {
        guard let query = ConnectQuery(query) else { return }
        setMethod(Array("POST".utf8).span)
        let path = path.array
        set(Self.contentType, RPCProtocol.connectUnary.contentType(query.codecName(in: self.query).span).span)
        setTarget(path.span)
        remove(RPCProtocol.connectGet.encodingName)
        if query.compression != .identity, let name = query.compression.name {
            set(RPCProtocol.connectGet.encodingName, Array("\(name)".utf8).span)
        }
    }

    /// What the caller understands, which is what the upstream may compress with.
    private func translateAccepted(from caller: RPCProtocol, to upstream: RPCProtocol) {
        guard caller.acceptName != upstream.acceptName else { return }
        let names = ByteQueue()
        for index in 0..<count where name(at: index).equals(caller.acceptName.bytes) {
            names.append(compressions: value(at: index))
        }
        remove(caller.acceptName)
        remove(upstream.acceptName)
        if !names.isEmpty { add(upstream.acceptName, names.readable) }
    }

    /// Makes the head of a response one for `caller`, with messages in this codec.
    func translateResponse(from upstream: RPCProtocol, to caller: RPCProtocol, codec: Span<UInt8>) {
        status = 200
        setReason(Span())
        set(Self.contentType, caller.contentType(codec).span)
        move(upstream.encodingName, to: caller.encodingName)
        move(upstream.acceptName, to: caller.acceptName)
        contentLength = nil
    }

    /// Removes what says how messages are compressed.
    func removeEncoding(_ rpcProtocol: RPCProtocol) {
        remove(rpcProtocol.encodingName)
    }

    /// Takes out the trailers of a head that says how the call ended, as what it has beside fields about the response itself
    /// is: gRPC has them there where no message comes (gRPC over HTTP/2, "Trailers-Only").
    func takeTrailers() -> [(name: [UInt8], value: [UInt8])] {
        guard first(.grpcStatus) != nil else { return [] }
        let trailers = pairs.filter { field in !Self.ofResponses.contains { field.name.span.equals($0) } }
        for index in (0..<count).reversed() where !Self.ofResponses.contains(where: { name(at: index).equals($0) }) {
            remove(at: index)
        }
        return trailers
    }

    private static let ofResponses: [StaticString] = [
        "content-type", "date", "server", "via", "grpc-encoding", "grpc-accept-encoding",
    ]

    /// Gives the fields of one name another, which means nothing as it is.
    private func move(_ name: FieldName, to other: FieldName) {
        guard name != other else { return }
        remove(other)
        while let index = first(name) { rename(at: index, to: other) }
    }
}

extension RPCProtocol {
    /// The field that names how the messages are compressed.
    var encodingName: FieldName {
        switch self {
        case .connectUnary, .connectGet, .http: FieldName.contentEncoding
        case .connectStream: FieldName.connectContentEncoding
        case .grpc, .grpcWeb, .grpcWebText: FieldName.grpcEncoding
        }
    }

    /// The field that lists the compressions that are understood.
    var acceptName: FieldName {
        switch self {
        case .connectUnary, .connectGet, .http: FieldName.acceptEncoding
        case .connectStream: FieldName.connectAcceptEncoding
        case .grpc, .grpcWeb, .grpcWebText: FieldName.grpcAcceptEncoding
        }
    }
}

extension FieldName {
    fileprivate static let contentEncoding = FieldName("content-encoding")
    fileprivate static let connectContentEncoding = FieldName("connect-content-encoding")
    fileprivate static let grpcEncoding = FieldName("grpc-encoding")
    fileprivate static let acceptEncoding = FieldName("accept-encoding")
    fileprivate static let connectAcceptEncoding = FieldName("connect-accept-encoding")
    fileprivate static let grpcAcceptEncoding = FieldName("grpc-accept-encoding")
}

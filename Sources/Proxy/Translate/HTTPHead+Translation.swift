internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

/// The heads of a call whose upstream speaks another protocol than its caller.
extension HTTPHead {
    private static let webMark = FieldName("x-grpc-web")
    private static let accept = FieldName("accept")
    static let binarySuffix = Array("-bin".utf8)

    /// Becomes the head of a request that has come from `caller`, in the protocol of its upstream.
    ///
    /// - Returns: the name of the codec of the caller's messages.
    func translate(_ request: HTTPHead, from caller: RPCProtocol, to upstream: RPCProtocol) -> CodecName {
        copy(request)
        let codec = caller == .connectGet ? moveQuery(of: request) : caller.codecName(in: request)
        setContentType(upstream, codec)
        setAcceptedType()
        rename(caller.encodingField, to: upstream.encodingField)
        normalize(upstream.encodingField)
        removePadding()
        translateAccepted(from: caller, to: upstream)
        if upstream.family == .connect {
            remove(.grpcTimeout)
            set(.connectProtocolVersion, "1")
        } else {
            remove(.connectTimeout)
            remove(.connectProtocolVersion)
        }
        if caller.family == .grpcWeb { remove(Self.webMark) }
        if upstream == .grpcWeb { set(Self.webMark, Array("1".utf8).span) }
        acceptsTrailers = upstream == .grpc
        contentLength = nil
        return codec
    }

    /// Makes a head whose messages are converted, and so decompressed, name the codec that they get.
    func convert(to codec: Codec, in upstream: RPCProtocol) {
        setContentType(upstream, CodecName(codec))
        setAcceptedType()
        remove(upstream.encodingField)
        remove(upstream.acceptField)
    }

    /// Names the content of a body of this protocol whose messages are in this codec.
    func setContentType(_ rpcProtocol: RPCProtocol, _ codec: CodecName) {
        switch codec {
        case .standard(let name): set(.contentType, rpcProtocol.contentTypeStart, name)
        case .other(let name): set(.contentType, rpcProtocol.contentTypeStart, name.span)
        }
    }

    /// Makes a request that accepts types of RPC accept the type of its own body: the response has the same.
    private func setAcceptedType() {
        guard let accept = first(Self.accept), value(at: accept).listsRPCType, let type = first(.contentType) else {
            return
        }
        let value = value(at: type).array
        setValue(at: accept, value.span)
        remove(Self.accept, from: accept + 1)
    }

    /// Writes the name of a compression in small letters, as gRPC compares it; HTTP ignores its case.
    private func normalize(_ encoding: KnownField) {
        guard let index = first(encoding), let name = Compression(name: value(at: index)).name else { return }
        if !value(at: index).equals(name) { set(encoding, name) }
    }

    /// Removes the padding of values in base64, which all protocols send without it.
    private func removePadding() {
        for index in 0..<count where name(at: index).hasSuffix(Self.binarySuffix) {
            if let value = value(at: index).unpaddedBase64 { setValue(at: index, value.span) }
        }
    }

    /// Makes the copy of a Connect GET the head of a POST: says in fields what the query says of its message.
    private func moveQuery(of request: HTTPHead) -> CodecName {
        let query = request.query
        guard let parsed = ConnectQuery(query) else { return CodecName(.other) }
        setMethod(Array("POST".utf8).span)
        let path = request.path
        setTarget(path)
        let encoding = RPCProtocol.connectGet.encodingField
        remove(encoding)
        if parsed.compression != .identity, let name = parsed.compression.name { set(encoding, name) }
        return CodecName(parsed.codecName(in: query).span)
    }

    /// What the caller understands, which is what the upstream may compress with.
    private func translateAccepted(from caller: RPCProtocol, to upstream: RPCProtocol) {
        guard caller.acceptField != upstream.acceptField else { return }
        remove(upstream.acceptField)
        guard var next = first(caller.acceptField) else { return }
        let names = ByteQueue()
        while next < count {
            names.append(compressions: value(at: next))
            next = first(caller.acceptField, from: next + 1) ?? count
        }
        remove(caller.acceptField)
        if !names.isEmpty { add(upstream.acceptField, names.readable) }
    }

    /// Makes the head of a response one for `caller`, with messages in this codec.
    func translateResponse(from upstream: RPCProtocol, to caller: RPCProtocol, codec: CodecName) {
        status = 200
        setReason(Span())
        setContentType(caller, codec)
        rename(upstream.encodingField, to: caller.encodingField)
        normalize(caller.encodingField)
        removePadding()
        rename(upstream.acceptField, to: caller.acceptField)
        contentLength = nil
    }

    /// Moves the trailers out of a head that says how the call ended, as what it has beside fields about the response itself
    /// is: gRPC has them there where no message comes (gRPC over HTTP/2, "Trailers-Only").
    func moveTrailers(to trailers: HTTPHead) {
        guard first(.grpcStatus) != nil else { return }
        for index in 0..<count where !isOfResponse(index) {
            trailers.add(name: name(at: index), value: value(at: index))
        }
        for index in (0..<count).reversed() where !isOfResponse(index) { remove(at: index) }
    }

    private func isOfResponse(_ index: Int) -> Bool {
        switch known(at: index) {
        case .contentType, .grpcEncoding, .grpcAcceptEncoding: return true
        case .other: break
        default: return false
        }
        let name = name(at: index)
        return name.equals("date") || name.equals("server") || name.equals("via")
    }
}

extension RPCProtocol {
    /// The field that names how the messages are compressed.
    var encodingField: KnownField {
        switch self {
        case .connectUnary, .connectGet, .http: .contentEncoding
        case .connectStream: .connectContentEncoding
        case .grpc, .grpcWeb, .grpcWebText: .grpcEncoding
        }
    }

    /// The field that lists the compressions that are understood.
    var acceptField: KnownField {
        switch self {
        case .connectUnary, .connectGet, .http: .acceptEncoding
        case .connectStream: .connectAcceptEncoding
        case .grpc, .grpcWeb, .grpcWebText: .grpcAcceptEncoding
        }
    }

    /// The codec that the head of a request names.
    func codecName(in request: HTTPHead) -> CodecName {
        guard let index = request.first(.contentType) else { return CodecName(.other) }
        return codecName(in: request.value(at: index))
    }
}

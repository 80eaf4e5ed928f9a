internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
public import RPC
internal import Telemetry
internal import Types

/// Whether a call has to be translated for its upstream.
extension Call {
    /// Whether the upstream is spoken to in another protocol or codec than the caller's.
    var isTranslated: Bool {
        upstreamLeg.spoken != upstreamLeg.rpcProtocol || upstreamLeg.conversion != nil
    }

    /// Chooses what the upstream is spoken to in.
    ///
    /// - Returns: what the caller is told, if the call cannot be translated.
    func chooseProtocol(_ upstream: Upstream) -> RPCError? {
        guard !upstream.families.isEmpty else {
            if callerLeg.rest != nil { worker.counters.translated(.restToConnect) }
            return nil
        }
        if let error = errorByType ?? errorOfPlain(upstream) { return error }
        do throws(RPCError) {
            upstreamLeg.spoken = try rpcProtocol.translated(
                for: upstream.families,
                includesText: upstream.speaksText,
                isUnary: { methodType.map { !$0.streams } }
            )
            upstreamLeg.restBindings = try restPaths(upstream)
            if !upstreamLeg.restBindings.isEmpty { upstreamLeg.spoken = .connectUnary }
            upstreamLeg.conversion = try conversion(for: upstream)
            // Converted messages go out in binary, which a server of text understands as well.
            if upstreamLeg.conversion != nil, upstreamLeg.spoken == .grpcWebText { upstreamLeg.spoken = .grpcWeb }
        } catch {
            return error.code == .unimplemented
                ? missingTypes ?? error.named("upstream \(upstream.settings.name)")
                : error.named("upstream \(upstream.settings.name)")
        }
        // Before a connection is taken, which a call that comes to nothing would cost.
        if rpcProtocol == .connectGet, isTranslated {
            do throws(RPCError) { _ = try request.queryMessage() } catch { return error }
        }
        if rpcProtocol == .connectStream, isTranslated, !upstreamLeg.isServed, codecName.isEmpty {
            let error = RPCError.unsupportedType("the call names no codec; use proto or json")
            return error.named("upstream \(upstream.settings.name)")
        }
        let caller = callerLeg.rest == nil ? rpcProtocol.family : nil
        let spoken = upstreamLeg.restBindings.isEmpty ? upstreamLeg.spoken.family : nil
        if let label = TranslationLabel(from: caller, to: spoken), rpcProtocol != .http, !upstreamLeg.isServed {
            worker.counters.translated(label)
        }
        return nil
    }

    /// Opens a stream on a connection, for what goes over it by the protocol of the upstream; in this process, if there is none.
    func open(on connection: UpstreamConnection?, for user: any AttemptStreamUser) -> (any HTTPStream)? {
        guard let connection else { return decompressed(LocalStream(for: user, of: self), for: user) }
        if !upstreamLeg.restBindings.isEmpty, let types = generation.types {
            return RESTUpstreamStream(for: user, upstreamLeg.restBindings, types, of: self, on: connection)
        }
        return connection.open(for: user, of: self).map { decompressed($0, for: user) }
    }

    private func decompressed(_ stream: any HTTPStream, for user: any AttemptStreamUser) -> any HTTPStream {
        guard let accepted = acceptedCompressions else { return stream }
        return DecompressedStream(before: stream, of: self, for: user, accepted)
    }

    /// The REST paths by which an upstream is called.
    private func restPaths(_ upstream: Upstream) throws(RPCError) -> [RESTBinding] {
        guard upstream.speaksREST, rpcProtocol.family != nil else { return [] }
        let request = request
        guard let method = methodType else {
            throw RPCError(
                .unimplemented,
                "it speaks REST, and Martlet does not know the types of \(request.path.string)"
            )
        }
        guard !method.streams else { throw RPCError(.unimplemented, "it speaks REST, which has no streams") }
        // A path that any HTTP method may have does not say which.
        let paths = method.restBindings.filter { $0.httpMethod != [UInt8(ascii: "*")] }
        guard !paths.isEmpty else { throw RPCError(.unimplemented, "it speaks REST, and the method has no path") }
        return paths
    }

    /// The error of a request that does not fit the type of its method, or `nil`.
    ///
    /// Such requests are rejected for upstreams with `speaks`, and for services in this process.
    public var errorByType: RPCError? {
        guard rpcProtocol.isUnaryConnect || rpcProtocol == .http, let method = methodType else { return nil }
        // Whoever forgets the content type of a method that is known means no plain HTTP.
        if rpcProtocol == .http { return errorAsRPC }
        if method.streams {
            let types = "application/connect+json or application/connect+proto"
            return RPCError(
                .unimplemented,
                "\(method.name) is a method with streams; send it as \(types)",
                httpStatus: 415
            )
        }
        guard rpcProtocol == .connectGet, !method.hasNoSideEffects else { return nil }
        return RPCError(
            .unimplemented,
            "\(method.name) may have side effects; send it by POST, or define it with NO_SIDE_EFFECTS",
            metadata: [("allow", "POST")],
            httpStatus: 405
        )
    }

    /// What is wrong with a request of plain HTTP: servers that speak nothing but gRPC have no place for one.
    private func errorOfPlain(_ upstream: Upstream) -> RPCError? {
        guard rpcProtocol == .http, !upstreamLeg.isServed, !upstream.families.contains(.connect) else {
            return nil
        }
        if let missing = missingRESTPaths { return missing }
        let lack = generation.restTable == nil ? "" : ", and has no REST path"
        let request = request
        let problem = "it does not speak plain HTTP, and \(request.path.string) is no request of RPC\(lack)"
        return RPCError(.unimplemented, "upstream \(upstream.settings.name): \(problem)", httpStatus: 404)
    }

    /// How the messages are converted for an upstream; none if it understands them.
    private func conversion(for upstream: Upstream) throws(RPCError) -> MessageConversion? {
        var codecs = upstream.speaksREST ? [.json] : upstream.settings.codecs
        // A caller who uses REST has no codec to ask for, and a server of gRPC has this one. A service in this process
        // takes messages in the codec of the caller.
        let isRESTToServer = callerLeg.rest != nil && !upstreamLeg.isServed
        if isRESTToServer, codecs.isEmpty, upstreamLeg.spoken.family != .connect { codecs = [.proto] }
        guard let wanted = codecs.first, rpcProtocol.family != nil,
            !codecs.contains(where: { $0.codec == upstreamLeg.codec })
        else { return nil }
        guard upstreamLeg.codec != .other else {
            let problem = "it does not understand the codec of the messages, nor does Martlet"
            throw .unsupportedType("\(problem); use proto or json")
        }
        guard let types = generation.types, let method = methodType else {
            let request = request
            throw RPCError(
                .unimplemented,
                "it understands \(wanted.rawValue) only, and Martlet does not know the types of \(request.path.string)"
            )
        }
        let limit = callerLeg.listener.heldMessageLimit
        return MessageConversion(method, types, to: wanted.codec, limit: limit)
    }

    /// What becomes of the call at the border to its upstream, in words; none if nothing does.
    var translationText: String? {
        guard isTranslated || callerLeg.rest != nil || !upstreamLeg.restBindings.isEmpty else { return nil }
        guard !upstreamLeg.isServed else { return nil }
        let came = "\(codecName)"
        let sent = upstreamLeg.conversion.map { "\($0.codec)" } ?? came
        let spoken = upstreamLeg.restBindings.isEmpty ? upstreamLeg.spoken.name : "rest"
        return "\(protocolName)/\(came) → \(spoken)/\(sent)"
    }

    /// The name of the codec, as the caller has it.
    var codecName: CodecName {
        let received = received
        guard rpcProtocol == .connectGet else { return rpcProtocol.codecName(in: received) }
        let query = received.query
        return ConnectQuery(query).map { CodecName($0.codecName(in: query).span) } ?? CodecName(.other)
    }
}

extension TranslationLabel {
    /// The label of a translation from one family, or from REST, to another; none if both are the same.
    fileprivate init?(from caller: RPCFamily?, to upstream: RPCFamily?) {
        switch (caller, upstream) {
        case (.connect, nil): self = .connectToREST
        case (.grpc, nil): self = .grpcToREST
        case (.grpcWeb, nil): self = .grpcWebToREST
        case (nil, .connect): self = .restToConnect
        case (nil, .grpc): self = .restToGRPC
        case (nil, .grpcWeb): self = .restToGRPCWeb
        case (.connect, .grpc): self = .connectToGRPC
        case (.connect, .grpcWeb): self = .connectToGRPCWeb
        case (.grpc, .grpcWeb): self = .grpcToGRPCWeb
        case (.grpc, .connect): self = .grpcToConnect
        case (.grpcWeb, .connect): self = .grpcWebToConnect
        case (.grpcWeb, .grpc): self = .grpcWebToGRPC
        default: return nil
        }
    }
}

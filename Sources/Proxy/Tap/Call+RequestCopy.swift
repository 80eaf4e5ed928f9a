internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import HTTP
internal import Protocols
internal import RPC

/// Requests of a call that is over, for people who want to repeat them.
extension Call {
    /// The request as the caller has sent it; good in `finished`.
    var callerCopy: RequestCopy {
        let head = received
        return RequestCopy(
            place: RequestCopy.Place(listener: String(decoding: callerLeg.listener.name, as: UTF8.self), head),
            address: nil,
            tls: callerLeg.listener.isSecure ? RequestCopy.TLS() : nil,
            isHTTP2: callerLeg.stream.version == .http2,
            method: head.method.array,
            target: Array(shownTarget(head).utf8),
            authority: head.authority.array,
            fields: RequestCopy.fields(head, self),
            trailers: tap?.requestTrailers ?? [],
            body: callerBody(head),
            hasLength: head.contentLength != nil,
            acceptsTrailers: head.acceptsTrailers,
            rpcProtocol: rpcProtocol,
            messages: tap.flatMap { flows.request.hasArrived ? messages(of: $0.requestBody, requestCompression) : nil }
        )
    }

    /// The request as it has gone upstream last.
    ///
    /// None if it has not, if nobody has opened a tap, and if parts of a REST path would have to be hidden.
    var upstreamCopy: RequestCopy? {
        guard let sent = tap?.sent, let settings = route.upstream?.settings else { return nil }
        guard upstreamLeg.restBindings.isEmpty || !redactions.hasPointers else { return nil }
        let head = sent.head
        let isREST = !upstreamLeg.restBindings.isEmpty
        let body = copied(sent.body, hasEnded: sent.hasEnded, of: head, upstreamLeg.spoken, isOwn: !isTranslated)
        return RequestCopy(
            place: RequestCopy.Place(upstream: settings, sent.address),
            address: "\(sent.address)",
            tls: settings.tls.map(RequestCopy.TLS.init),
            isHTTP2: sent.version == .http2,
            method: head.method.array,
            target: Array(shownTarget(head).utf8),
            authority: head.authority.array,
            fields: RequestCopy.fields(head, self),
            trailers: sent.trailers.map { RequestCopy.fields($0, self) } ?? [],
            body: sent.hasBody ? body : .none,
            // Without a body, HTTP/1.1 goes by the method, whatever the caller has said.
            hasLength: sent.hasBody || sent.version == .http2 ? head.contentLength != nil : head.expectsLength,
            acceptsTrailers: head.acceptsTrailers,
            rpcProtocol: isREST ? .http : upstreamLeg.spoken,
            messages: isTranslated || isREST || !sent.hasEnded ? nil : messages(of: sent.body, compressionUpstream)
        )
    }

    private func callerBody(_ head: HTTPHead) -> RequestCopy.Body {
        let hasArrived = flows.request.hasArrived
        guard flows.request.hasBody else { return .none }
        guard let tap else {
            return record.requestBytes == 0 && hasArrived ? .bytes([]) : .missing("no tap was open")
        }
        return copied(tap.requestBody, hasEnded: hasArrived, of: head, rpcProtocol, isOwn: true)
    }

    /// A body as it may be shown; `isOwn` if it is in the protocol and the codec of the caller.
    private func copied(
        _ body: MessageFinder.Found,
        hasEnded: Bool,
        of head: HTTPHead,
        _ spoken: RPCProtocol,
        isOwn: Bool
    ) -> RequestCopy.Body {
        guard hasEnded else { return .missing("the call ended before its whole body arrived") }
        guard body.count > 0 else { return .bytes([]) }
        guard body.isWhole else {
            return .missing("it has \(body.count) bytes, and at most \(RequestCopy.maxBody) are kept")
        }
        guard redactions.hasPointers else {
            return maskedForm(body.bytes).map { .masked($0) } ?? .bytes(body.bytes)
        }
        let isHidden = spoken.hasEnvelopes || !isOwn || head.compression(spoken) != .identity
        let isTyped = hasMessageTypes && spoken.isUnaryConnect
        guard !isHidden, !isTyped || codec == .json,
            let value = isTyped ? json(body.bytes.span, .request) : try? parsed(body.bytes.span)
        else { return .missing("nobody knows what of it may be shown") }
        let masked = redactions.masked(value)
        // What its type does not know is in the bytes alone.
        if isTyped, let raw = try? parsed(body.bytes.span), redactions.masked(raw) != raw {
            return .masked(masked.bytes)
        }
        return masked == value ? .bytes(body.bytes) : .masked(masked.bytes)
    }

    /// The messages of a body as JSON; none unless all of them are known so.
    private func messages(of body: MessageFinder.Found, _ compression: Compression) -> [[UInt8]]? {
        guard rpcProcedure != nil, body.isWhole else { return nil }
        var (finder, found) = (MessageFinder(rpcProtocol, .request), [MessageFinder.Found]())
        finder.add(body.bytes.span) { found.append($0) }
        finder.end(isRPC: rpcProtocol == .connectUnary) { found.append($0) }
        if let queryMessage { found.append(queryMessage) }
        guard finder.isBetweenMessages, found.count <= RequestCopy.maxMessages else { return nil }
        var (messages, size) = ([[UInt8]](), 0)
        for message in found {
            guard case .json(let json) = ShownMessage(message, compression, .request, self).content else { return nil }
            size += json.count
            // What was compressed may be much longer.
            guard size <= MessageFinder.maxBytes else { return nil }
            messages.append(json)
        }
        return messages
    }

    /// The message of a Connect GET, which is in its query.
    var queryMessage: MessageFinder.Found? {
        guard rpcProtocol == .connectGet else { return nil }
        let head = received
        guard let message = try? ConnectQuery(head.query)?.message(in: head.query) else { return nil }
        var found = MessageFinder.Found(isCompressed: requestCompression != .identity)
        found.add(message.span, max: MessageFinder.maxBytes)
        return found
    }
}

extension RequestCopy.Place {
    /// Where a listener can be reached, or the host that a request has named.
    fileprivate init(listener name: String, _ head: HTTPHead) {
        switch ListenAddress(name) {
        case .unix(let path): self = .unix(path: path)
        case .abstract(let abstract): self = .unix(path: "@\(abstract)")
        case .tcp("0.0.0.0", let port): self = .tcp("127.0.0.1:\(port)")
        case .tcp("::", let port): self = .tcp("[::1]:\(port)")
        case .tcp: self = .tcp(name)
        case .systemd, nil: self = .tcp(head.authority.string)
        }
    }
}

extension RequestCopy.Place {
    /// What an upstream is called, whose connection leads to an address: a certificate is for the name.
    fileprivate init(upstream settings: UpstreamSettings, _ address: SocketAddress) {
        switch settings.url.endpoint {
        case .unix(let path): self = .unix(path: path)
        case .tcp(let host):
            guard let tls = settings.tls else {
                self = .tcp("\(address)")
                return
            }
            self = .tcp(HostPort(host: tls.serverName ?? host.host, port: host.port).description)
        }
    }
}

extension RequestCopy.TLS {
    /// What the settings of an upstream say.
    fileprivate init(_ settings: UpstreamTLSSettings) {
        authorities = settings.authorities?.path
        certificate = settings.identity.map { ($0.certificate.path, $0.key.path) }
        isInsecure = settings.isInsecure
    }
}

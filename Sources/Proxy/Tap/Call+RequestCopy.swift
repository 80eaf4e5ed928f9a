internal import Bytes
internal import Configuration
internal import Documents
internal import HTTP
internal import Protocols
internal import RPC

/// Requests of a call that is over, for people who want to repeat them.
extension Call {
    /// The request as the caller has sent it; good in `finished`.
    var callerCopy: RequestCopy {
        let head = received
        var body = tap.map { copied($0.requestBody, of: head, rpcProtocol) } ?? unseenBody
        if tap != nil, !flows.request.hasArrived { body = .missing("the call ended before it had come") }
        var copy = RequestCopy(
            place: RequestCopy.Place(listener: String(decoding: callerLeg.listener.name, as: UTF8.self), head),
            tls: callerLeg.listener.isSecure ? RequestCopy.TLS() : nil,
            isHTTP2: callerLeg.stream.version == .http2,
            method: head.method.array,
            target: Array(shownTarget(head).utf8),
            authority: head.authority.array,
            fields: RequestCopy.fields(head, self),
            trailers: tap?.requestTrailers ?? [],
            body: body,
            hasLength: head.contentLength != nil,
            acceptsTrailers: head.acceptsTrailers,
            rpcProtocol: rpcProtocol
        )
        if let tap { copy.messages = messages(of: tap.requestBody, head) }
        return copy
    }

    /// The request as it has gone upstream last; none if it has not, or nobody has looked at the call.
    var upstreamCopy: RequestCopy? {
        guard let sent = tap?.sent, let settings = route.upstream?.settings else { return nil }
        let head = sent.head
        guard head.method.count > 0 else { return nil }
        var place = RequestCopy.Place.tcp("\(sent.address)")
        if case .unix(let path) = settings.url.endpoint { place = .unix(path: path) }
        return RequestCopy(
            place: place,
            tls: settings.tls.map(RequestCopy.TLS.init),
            isHTTP2: sent.version == .http2,
            method: head.method.array,
            target: Array(shownTarget(head).utf8),
            authority: head.authority.array,
            fields: RequestCopy.fields(head, self),
            trailers: sent.trailers.map { RequestCopy.fields($0, self) } ?? [],
            body: sent.hasBody ? copied(sent.body, of: head, upstreamLeg.spoken) : .none,
            hasLength: head.contentLength != nil,
            acceptsTrailers: head.acceptsTrailers,
            rpcProtocol: upstreamLeg.spoken
        )
    }

    /// The body of a request at which nobody has looked.
    private var unseenBody: RequestCopy.Body {
        record.requestBytes == 0 && flows.request.hasArrived
            ? .none : .missing("nobody looked at the call while it was under way")
    }

    /// A body as it may be shown.
    private func copied(_ body: MessageFinder.Found, of head: HTTPHead, _ spoken: RPCProtocol) -> RequestCopy.Body {
        guard body.count > 0 else { return .none }
        guard body.isWhole else {
            return .missing("it has \(body.count) bytes, and at most \(RequestCopy.maxBody) are kept")
        }
        guard redactions.hasPointers else { return .bytes(body.bytes) }
        guard !spoken.hasEnvelopes, head.compression(spoken) == .identity, let value = try? JSON.parse(body.bytes.span)
        else { return .missing("parts of it are not shown, and it is not JSON") }
        let masked = redactions.masked(value)
        return masked == value ? .bytes(body.bytes) : .masked(masked.bytes)
    }

    /// The messages of a body as JSON; none unless all of them are known so.
    private func messages(of body: MessageFinder.Found, _ head: HTTPHead) -> [[UInt8]]? {
        guard rpcProcedure != nil, body.isWhole else { return nil }
        var (finder, found) = (MessageFinder(rpcProtocol, .request), [MessageFinder.Found]())
        finder.add(body.bytes.span) { found.append($0) }
        finder.end(isRPC: rpcProtocol == .connectUnary) { found.append($0) }
        var messages: [[UInt8]] = []
        for message in found {
            guard case .json(let json) = ShownMessage(message, requestCompression, .request, self).content else {
                return nil
            }
            messages.append(json)
        }
        return messages
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

extension RequestCopy.TLS {
    /// What the settings of an upstream say.
    fileprivate init(_ settings: UpstreamTLSSettings) {
        authorities = settings.authorities?.text
        certificate = settings.identity.map { ($0.certificate.text, $0.key.text) }
        isInsecure = settings.isInsecure
    }
}

internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Time
internal import Types

/// One health check of one address, over a connection of its own.
///
/// Belongs to its loop's thread.
final class HealthProbe: HTTPStreamUser, ConnectionSeeker {
    let version: HTTPVersion
    let needsHTTP2: Bool
    let waitsUntil = Instant.max
    private let upstream: Upstream
    private let place: UpstreamAddress
    private let settings: UpstreamHealthSettings
    private let token: [UInt8]?
    private var response: HealthResponse
    private var hasHead = false
    private var done: ((HealthResponse.Result?) -> Void)?
    private var connection: UpstreamConnection?
    private var stream: (any HTTPStream)?
    private var timer: Timer?

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - place: the address; its pools are draining, so that connections are used once.
    ///   - upstream: what it belongs to.
    ///   - settings: what it is asked.
    ///   - token: what is sent as `authorization`, if anything is.
    ///   - done: called once, unless the check is cancelled; without a result if it could not be made here.
    init(
        of place: UpstreamAddress,
        _ upstream: Upstream,
        _ settings: UpstreamHealthSettings,
        token: [UInt8]?,
        done: @escaping (HealthResponse.Result?) -> Void
    ) {
        (self.upstream, self.place, self.settings, self.token, self.done) = (upstream, place, settings, token, done)
        response = HealthResponse(to: settings.request)
        if case .grpc = settings.request { needsHTTP2 = true } else { needsHTTP2 = false }
        // Over TLS the server chooses.
        version = needsHTTP2 || upstream.tls != nil ? .http2 : .http1
    }

    /// Begins; `done` may be called before this returns.
    func start() {
        let timer = Timer(on: upstream.context.loop.timers) { [unowned self] in
            end(.down("no response within \(settings.timeout.text)"))
        }
        self.timer = timer
        timer.arm(after: settings.timeout)
        upstream.acquire(for: self, at: place)
    }

    var isOver: Bool { done == nil }

    /// Ends it; nobody is told.
    func cancel() {
        done = nil
        timer.take()?.cancel()
        if connection == nil { place.withdraw(self) }
        stream.take()?.reset(.canceled)
    }

    private func end(_ result: HealthResponse.Result?) {
        guard let done else { return }
        upstream.context.loop.keep(self)
        cancel()
        done(result)
    }

    // MARK: The request

    func connected(_ connection: UpstreamConnection) {
        guard !isOver else { return }
        guard let stream = connection.open(for: self) else { return failed(.lost) }
        (self.connection, self.stream) = (connection, stream)
        let (head, message) = (makeHead(), message)
        stream.send(head: head, end: message.isEmpty)
        upstream.context.release(head)
        guard !message.isEmpty else { return }
        self.stream?.send(body: message.span)
        self.stream?.sendEnd(trailers: nil)
    }

    private func makeHead() -> HTTPHead {
        let head = upstream.context.acquireHead()
        // Callers may name the host of their calls; checks have no caller.
        let authority = Array((upstream.settings.ownAuthority ?? "localhost").utf8)
        head.setAuthority(authority.span)
        var fields = [("user-agent", Array("martlet-health-check".utf8))]
        switch settings.request {
        case .http(let path):
            let (method, target) = (Array("GET".utf8), Array(path.utf8))
            head.setMethod(method.span)
            head.setTarget(target.span)
        case .grpc:
            let (method, target) = (Array("POST".utf8), Array("/grpc.health.v1.Health/Check".utf8))
            head.setMethod(method.span)
            head.setTarget(target.span)
            fields += [("content-type", Array("application/grpc".utf8)), ("te", Array("trailers".utf8))]
        }
        if let token { fields.append(("authorization", Array("Bearer ".utf8) + token)) }
        for (name, value) in fields {
            let name = Array(name.utf8)
            head.add(name: name.span, value: value.span)
        }
        return head
    }

    /// `HealthCheckRequest { string service = 1; }` in its envelope; empty for plain HTTP.
    private var message: [UInt8] {
        guard case .grpc(let service) = settings.request else { return [] }
        let queue = ByteQueue()
        var request: [UInt8] = []
        if !service.isEmpty { request.append(field: 1, service.utf8) }
        queue.append(enveloping: request.span)
        return queue.readable.array
    }

    // MARK: What comes of it

    func failed(_ error: UpstreamError) {
        guard !error.isLocal else { return end(.none) }
        end(.down(error.error(upstream: upstream.settings.name, for: .http).message))
    }

    func received(informational head: HTTPHead) {}

    func received(head: HTTPHead, end isLast: Bool) {
        defer { upstream.context.release(head) }
        hasHead = true
        response.read(head: head)
        if isLast { return receivedEnd(trailers: head) }
        // A page is of no interest, and may be large, or never end.
        if !needsHTTP2 { end(response.result(trailers: nil)) }
    }

    func received(body: Span<UInt8>) {
        guard !isOver else { return }
        response.read(body: body)
    }

    func receivedEnd(trailers: HTTPHead?) {
        stream = nil
        end(response.result(trailers: trailers))
    }

    func wasReset(_ reason: HTTPReset) {
        stream = nil
        guard let connection, !isOver else { return }
        failed(UpstreamError(reason, on: connection, hasHead: hasHead))
    }

    func drained() {}
}

internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// A call that a command makes, on the thread of the command: it sends all messages, and hands over those of the response as
/// they come.
final class RPCCall: HTTPStreamUser, ConnectionSeeker {
    /// The largest message of a response, in bytes.
    private static let limit = 64 << 20

    let waitsUntil = Instant.max
    private let loop: EventLoop
    private let upstream: Upstream
    let request: RPCRequest
    private let onMessage: (Span<UInt8>) -> Void
    private var result: RPCResult?
    private var stream: (any HTTPStream)?
    private var connection: UpstreamConnection?
    private var timer: Timer?
    /// Reads the response.
    private var response: RPCCallResponse

    private init(
        _ request: RPCRequest,
        on upstream: Upstream,
        _ loop: EventLoop,
        onMessage: @escaping (Span<UInt8>) -> Void
    ) {
        (self.request, self.upstream, self.loop) = (request, upstream, loop)
        self.onMessage = onMessage
        response = RPCCallResponse(request, limit: Self.limit)
    }

    /// Makes a call and waits for its end.
    fileprivate static func make(
        _ request: RPCRequest,
        to server: FetchServer,
        onMessage: @escaping (Span<UInt8>) -> Void
    ) -> RPCResult {
        let loop = EventLoop()
        let limiter = LogLimiter(loop: loop) { _ in }
        let counters = WorkerCounters()
        let upstream = Upstream(
            server.settings,
            context: WireContext(loop: loop),
            network: SystemNetwork(),
            names: NameService(loop: loop),
            counter: counters.upstream("call"),
            events: .uncounted,
            logLimiter: limiter,
            tls: server.tls
        )
        let call = RPCCall(request, on: upstream, loop, onMessage: onMessage)
        call.start()
        if call.result == nil { loop.run() }
        upstream.drain()
        loop.turn(waiting: false)
        return call.result ?? .failed("the call has not ended")
    }

    var version: HTTPVersion { needsHTTP2 ? .http2 : .http1 }
    var needsHTTP2: Bool { request.rpcProtocol.upstreamSide.needsHTTP2 }
    var isOver: Bool { result != nil }

    private func start() {
        if let timeout = request.timeout {
            let timer = Timer(on: loop.timers) { [unowned self] in fail("no response within \(timeout.text)") }
            self.timer = timer
            // The server is told the same, and knows more about why.
            timer.arm(after: timeout + .milliseconds(500))
        }
        upstream.acquire(for: self)
    }

    private func end(_ result: RPCResult) {
        guard self.result == nil else { return }
        self.result = result
        timer.take()?.cancel()
        if connection == nil { upstream.withdraw(self) }
        stream.take()?.reset(.canceled)
        loop.stop()
    }

    private func fail(_ text: String) { end(.failed(text)) }

    // MARK: The request

    func connected(_ connection: UpstreamConnection) {
        guard !isOver else { return }
        guard connection.version == .http2 || !needsHTTP2 else { return failed(.needsHTTP2) }
        guard let stream = connection.open(for: self) else { return failed(.lost) }
        self.connection = connection
        self.stream = stream
        let body = ByteQueue()
        for message in request.messages { body.append(message: message.span, in: request.rpcProtocol) }
        let head = upstream.context.heads.acquire()
        write(head, bodySize: body.count)
        stream.send(head: head, end: body.isEmpty)
        upstream.context.heads.release(head)
        guard !body.isEmpty else { return }
        self.stream?.send(body: body.readable)
        self.stream?.sendEnd(trailers: nil)
    }

    private func write(_ head: HTTPHead, bodySize: Int) {
        let (rpcProtocol, path) = (request.rpcProtocol, request.path)
        head.setMethod(Array("POST".utf8).span)
        head.setTarget(path.span)
        let authority = request.authority ?? upstream.authority ?? Array("localhost".utf8)
        head.setAuthority(authority.span)
        head.setContentType(rpcProtocol, CodecName(request.codec))
        var fields = [(name: "user-agent", value: "martlet")]
        switch rpcProtocol.family {
        case .connect: fields.append(("connect-protocol-version", "1"))
        case .grpcWeb: fields.append(("x-grpc-web", "1"))
        case .grpc, nil: break
        }
        if rpcProtocol == .connectUnary { fields.append(("accept-encoding", "identity")) }
        if let timeout = request.timeout, let field = rpcProtocol.upstreamSide.timeoutField {
            let text = field.text(of: timeout)
            fields.append((field.name.description, text.bytes.string))
        }
        let given = Set(request.headers.map(\.name))
        for field in fields.filter({ !given.contains($0.name) }) + request.headers {
            head.add(name: Array(field.name.utf8).span, value: Array(field.value.utf8).span)
        }
        head.acceptsTrailers = rpcProtocol == .grpc
        head.contentLength = bodySize
    }

    func failed(_ error: UpstreamError) {
        let text = error.error(upstream: upstream.settings.url.description, for: .http).message
        end(error.isLackOfConnectivity && connection == nil ? .unreachable(text) : .failed(text))
    }

    // MARK: The response

    func received(informational head: HTTPHead) {}

    func received(head: HTTPHead, end isLast: Bool) {
        do throws(RPCError) {
            try response.receive(head)
            upstream.context.heads.release(head)
            if isLast { complete(trailers: nil) }
        } catch {
            upstream.context.heads.release(head)
            fail(error.message)
        }
    }

    func received(body: Span<UInt8>) {
        guard !isOver else { return }
        do throws(RPCError) {
            try response.receive(body, onMessage)
        } catch {
            fail(error.message)
        }
    }

    func receivedEnd(trailers: HTTPHead?) { complete(trailers: trailers) }

    private func complete(trailers: HTTPHead?) {
        stream = nil
        do throws(RPCError) {
            let end = try response.end(trailers, onMessage)
            self.end(.response(status: response.status, error: end.error, trailers: end.pairs))
        } catch {
            fail(error.message)
        }
    }

    func wasReset(_ reason: HTTPReset) {
        stream = nil
        failed(UpstreamError(reason, on: connection, hasHead: response.status > 0))
    }

    func drained() {}
}

extension RPCRequest {
    /// Makes the call and waits for its end.
    ///
    /// - Parameters:
    ///   - server: who is called.
    ///   - onMessage: gets each message of the response when it is whole.
    /// - Returns: how it has ended.
    package func send(to server: FetchServer, onMessage: @escaping (Span<UInt8>) -> Void) -> RPCResult {
        RPCCall.make(self, to: server, onMessage: onMessage)
    }
}

internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Time
internal import Types

/// One call of an upstream's reflection service, over HTTP/2: sends what a `ReflectionSession` asks.
///
/// Belongs to its loop's thread.
final class ReflectionFetch: HTTPStreamUser, ConnectionSeeker {
    typealias Completion = (Result<ReflectedFiles, ReflectionError>) -> Void

    let version: HTTPVersion = .http2
    let needsHTTP2 = true
    let waitsUntil = Instant.max
    private let upstream: Upstream
    private let known: [DescriptorFile]
    private var session: ReflectionSession
    /// The versions of the service that have not been tried.
    private var versions = ["v1", "v1alpha"][...]
    private var done: Completion?
    private var stream: (any HTTPStream)?
    private var connection: UpstreamConnection?
    private var timer: Timer?
    private var status = 0
    private var scanner = EnvelopeScanner()
    private var message: [UInt8] = []

    /// Makes a call; `known` are files that need not be fetched, and `done` is called once, unless it is cancelled.
    init(from upstream: Upstream, known: [DescriptorFile], done: @escaping Completion) {
        self.upstream = upstream
        self.known = known
        self.done = done
        session = ReflectionSession(known: known)
    }

    /// Begins; `done` may be called before this returns.
    func start() {
        let timer = Timer(on: upstream.context.loop.timers) { [weak self] in self?.end(.failure(.timeout)) }
        self.timer = timer
        timer.arm(after: ReflectionSession.timeout)
        seek()
    }

    var isOver: Bool { done == nil }

    /// Ends it; nobody is told.
    func cancel() {
        guard done != nil else { return }
        done = nil
        release()
    }

    private func release() {
        timer?.cancel()
        timer = nil
        if connection == nil { upstream.withdraw(self) }
        let stream = stream
        (self.stream, connection) = (nil, nil)
        stream?.reset(.canceled)
        message = []
    }

    private func end(_ result: Result<ReflectedFiles, ReflectionError>) {
        guard let done else { return }
        self.done = nil
        upstream.context.loop.keep(self)
        release()
        done(result)
    }

    private func fail(_ error: UpstreamError) {
        end(.failure(.connection(error.error(upstream: upstream.settings.name, for: .grpc).message)))
    }

    // MARK: The request

    /// Asks the next version of the service from the beginning.
    private func seek() {
        let stream = stream
        (self.stream, connection) = (nil, nil)
        stream?.reset(.canceled)
        session = ReflectionSession(known: known)
        (scanner, message, status) = (EnvelopeScanner(), [], 0)
        upstream.acquire(for: self)
    }

    func connected(_ connection: UpstreamConnection) {
        guard !isOver, let version = versions.first else { return }
        guard let stream = connection.open(for: self) else { return fail(.lost) }
        (self.connection, self.stream) = (connection, stream)
        let head = makeHead(version)
        stream.send(head: head, end: false)
        upstream.context.heads.release(head)
        ask()
    }

    private func makeHead(_ version: String) -> HTTPHead {
        let head = upstream.context.heads.acquire()
        let target = Array("/grpc.reflection.\(version).ServerReflection/ServerReflectionInfo".utf8)
        let (method, authority) = (Array("POST".utf8), upstream.authority ?? Array("localhost".utf8))
        head.setMethod(method.span)
        head.setTarget(target.span)
        head.setAuthority(authority.span)
        for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
            let (name, value) = (Array(name.utf8), Array(value.utf8))
            head.add(name: name.span, value: value.span)
        }
        return head
    }

    /// Sends what may be sent now, and ends if nothing is left to ask.
    private func ask() {
        while let request = session.nextRequest() {
            let queue = ByteQueue()
            queue.append(enveloping: request.span)
            stream?.send(body: queue.readable)
            guard !isOver else { return }
        }
        guard session.isComplete else { return }
        stream?.sendEnd(trailers: nil)
        end(Result { () throws(ReflectionError) in try session.result() })
    }

    func failed(_ error: UpstreamError) { fail(error) }

    // MARK: The response

    func received(informational head: HTTPHead) {}

    func received(head: HTTPHead, end isLast: Bool) {
        defer { upstream.context.heads.release(head) }
        status = head.status
        if isLast || head.first(.grpcStatus) != nil { return finish(head) }
        guard status == 200 else { return finish(nil) }
        guard let index = head.first(.contentType) else { return end(.failure(.notGRPC("it has no content type"))) }
        let type = head.value(at: index)
        guard !type.hasPrefix("application/grpc") || type.hasPrefix("application/grpc-web") else { return }
        end(.failure(.notGRPC("its content type is \(type.extracting(first: 64).string)")))
    }

    func received(body bytes: Span<UInt8>) {
        var position = 0
        while !isOver, let event = scanner.next(in: bytes, from: &position) {
            switch event {
            case .envelope(let envelope):
                if envelope.flags != 0 { return end(.failure(.notGRPC("a message is compressed"))) }
                if envelope.length > ReflectionSession.maxBytes { return end(.failure(.tooLarge)) }
                message.removeAll()
            case .payload(let range, let isLast):
                message += bytes.extracting(range).array
                if isLast { receivedMessage() }
            }
        }
    }

    private func receivedMessage() {
        let message = message
        do throws(ReflectionError) {
            try session.receive(message.span)
        } catch {
            return end(.failure(error))
        }
        ask()
    }

    func receivedEnd(trailers: HTTPHead?) { finish(trailers) }

    /// The upstream has ended the call; `head` has its status, if there is one.
    private func finish(_ head: HTTPHead?) {
        guard !isOver else { return }
        let index = head?.first(.grpcStatus)
        guard let head, let index else {
            let code = RPCCode(inferredFromStatus: status)
            guard status != 200 else { return end(.failure(.endedEarly)) }
            return code == .unimplemented ? tryNext() : end(.failure(.notGRPC("its HTTP status is \(status)")))
        }
        let code = RPCCode(grpcStatus: head.value(at: index))
        if code == .unimplemented { return tryNext() }
        guard code != .ok else { return end(.failure(.endedEarly)) }
        var text = ""
        if let index = head.first(.grpcMessage) {
            text = String(decoding: PercentEncoding.decode(head.value(at: index)), as: UTF8.self)
        }
        end(.failure(.ended(code, text)))
    }

    /// The upstream does not have this version of the service.
    private func tryNext() {
        versions.removeFirst()
        versions.isEmpty ? end(.failure(.unimplemented)) : seek()
    }

    func wasReset(_ reason: HTTPReset) {
        stream = nil
        guard let connection, !isOver else { return }
        fail(UpstreamError(reason, on: connection, hasHead: status > 0))
    }

    func drained() {}
}

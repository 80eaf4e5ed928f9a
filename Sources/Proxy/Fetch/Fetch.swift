internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Protocols
public import RPC
internal import Telemetry
internal import Time

/// Why a request of our own has got no response.
public struct FetchError: Error, Sendable {
    /// The cause in words, without any value that was sent.
    public let text: String
    /// What a caller is told whose call it was made for.
    public var code = RPCCode.unavailable
    /// What is wrong with the connection, if that is why.
    public var upstreamError: UpstreamError?
}

/// One request of our own and its response, which is kept whole.
///
/// Redirects are not followed: what is sent is for the server that the configuration names. Belongs to its loop's thread.
final class Fetch: HTTPStreamUser, ConnectionSeeker {
    typealias Completion = (Result<FetchedResponse, FetchError>) -> Void

    let version: HTTPVersion = .http1
    let needsHTTP2 = false
    let waitsUntil = Instant.max
    private var request: FetchRequest
    private let upstream: Upstream
    private let limit: Int
    private var done: Completion?
    private let limitReached: (LimitLabel) -> Void
    private var stream: (any HTTPStream)?
    private var timer: Timer?
    /// Reads the files that are sent.
    private var reading: LoopTask?
    /// The bytes of its files, which count in `limits.memory`.
    private var loadedSize = 0
    private var status = 0
    private var fields: [FetchRequest.Field] = []
    private var body: [UInt8] = []
    private var hasResponse = false
    private var attempts = 0
    private var sentBefore = 0
    private var connection: UpstreamConnection?

    /// Makes a fetch; `done` is called once, unless it is cancelled, and `limit` is the largest body of a response, in bytes.
    ///
    /// `limitReached` is told of limits of the process that it meets.
    init(
        _ request: FetchRequest,
        on upstream: Upstream,
        limit: Int,
        limitReached: @escaping (LimitLabel) -> Void,
        done: @escaping Completion
    ) {
        self.limitReached = limitReached
        self.request = request
        self.upstream = upstream
        self.limit = limit
        self.done = done
    }

    /// Begins; `tasks` waits for the files that are sent, where there are any.
    func start(timeout: Duration?, tasks: @autoclosure () -> LoopTasks) {
        if let timeout {
            let timer = Timer(on: upstream.context.loop.timers) { [weak self] in
                self?.fail("no response within the time limit", .deadlineExceeded)
            }
            self.timer = timer
            timer.arm(after: timeout)
        }
        guard !request.isLoaded else { return upstream.acquire(for: self) }
        let (request, memory) = (request, upstream.context.memory)
        reading = tasks().start(RequestReading(request, memory: memory), on: .files) { [weak self] in self?.loaded($0) }
    }

    private func loaded(_ result: Result<LoadedRequest, NamedCallError>) {
        guard !isOver else { return }
        switch result {
        case .success(let loaded):
            request = loaded.request
            loadedSize = loaded.size
            // From here on this thread counts them, and so sees when stalled calls have to end.
            upstream.context.meter.add(loadedSize)
            upstream.acquire(for: self)
        case .failure(.shortOfMemory):
            limitReached(.memory)
            fail(NamedCallError.shortOfMemory.text, .resourceExhausted)
        case .failure(let error): fail(error.text)
        }
    }

    var isOver: Bool { done == nil }

    /// The bytes that are held for it.
    var heldBytes: Int { loadedSize + (stream?.heldBytes ?? 0) }

    /// Ends it; nobody is told.
    func cancel() {
        guard done != nil else { return }
        done = nil
        releaseAll()
    }

    private func releaseAll() {
        timer?.cancel()
        timer = nil
        reading?.cancel()
        reading = nil
        upstream.context.meter.add(-loadedSize)
        loadedSize = 0
        request.body = .bytes([])
        if connection == nil { upstream.withdraw(self) }
        let stream = stream
        self.stream = nil
        stream?.reset(.canceled)
    }

    private func end(_ result: Result<FetchedResponse, FetchError>) {
        guard let done else { return }
        self.done = nil
        upstream.context.loop.keep(self)
        releaseAll()
        done(result)
    }

    private func fail(_ text: String, _ code: RPCCode = .unavailable) {
        end(.failure(FetchError(text: text, code: code)))
    }

    // MARK: What the pool tells

    func connected(_ connection: UpstreamConnection) {
        guard !isOver else { return }
        guard let stream = connection.open(for: self) else { return failed(.lost) }
        self.connection = connection
        self.stream = stream
        attempts += 1
        sentBefore = connection.bytesSent
        guard case .bytes(let body) = request.body else { preconditionFailure("files must be read before a fetch") }
        let head = makeHead(bodySize: body.count)
        stream.send(head: head, end: body.isEmpty)
        upstream.context.heads.release(head)
        guard !body.isEmpty else { return }
        self.stream?.send(body: body.span)
        self.stream?.sendEnd(trailers: nil)
    }

    private func makeHead(bodySize: Int) -> HTTPHead {
        let head = upstream.context.heads.acquire()
        let (method, target, authority) = (Array(request.method.utf8), request.target, upstream.authority ?? [])
        head.setMethod(method.span)
        head.setTarget(target.span)
        head.setAuthority(authority.span)
        for field in request.fields {
            let (name, value) = (Array(field.name.utf8), field.value)
            head.add(name: name.span, value: value.span)
        }
        if let codings = request.acceptedCodings { head.set(.acceptEncoding, codings) }
        if bodySize > 0 || request.method != "GET" { head.contentLength = bodySize }
        return head
    }

    func failed(_ error: UpstreamError) {
        let told = error.error(upstream: upstream.settings.url.description, for: .http)
        end(.failure(FetchError(text: told.message, code: told.code, upstreamError: error)))
    }

    // MARK: The response

    func received(informational head: HTTPHead) { hasResponse = true }

    func received(head: HTTPHead, end isLast: Bool) {
        hasResponse = true
        status = head.status
        for index in 0..<head.count {
            let name = String(decoding: head.name(at: index).array, as: UTF8.self)
            fields.append(FetchRequest.Field(name, head.value(at: index).array))
        }
        upstream.context.heads.release(head)
        if isLast { complete() }
    }

    func received(body bytes: Span<UInt8>) {
        guard !isOver else { return }
        guard body.count + bytes.count <= limit else {
            return fail("the response exceeds \(limit) bytes", .resourceExhausted)
        }
        body += bytes.array
    }

    func receivedEnd(trailers: HTTPHead?) { complete() }

    private func complete() {
        stream = nil
        let arrived = FetchedResponse(status: status, fields: fields, body: body)
        end(Result { () throws(FetchError) in try arrived.decoded(limit: limit) })
    }

    func wasReset(_ reason: HTTPReset) {
        stream = nil
        guard let connection, !isOver else { return }
        let error = UpstreamError(reason, on: connection, hasHead: status > 0)
        let method = Array(request.method.utf8)
        let sent = SentRequest(
            hasResponse: hasResponse,
            wasIdle: connection.hasBeenIdle,
            wasUnaccepted: false,
            hasLeft: connection.bytesSent != sentBefore,
            isIdempotent: HTTPHead.isIdempotent(method.span)
        )
        guard sent.canRetry(after: error), attempts < SentRequest.maxAttempts(isBalanced: false) else {
            return failed(error)
        }
        self.connection = nil
        upstream.acquire(for: self)
    }

    func drained() {}
}

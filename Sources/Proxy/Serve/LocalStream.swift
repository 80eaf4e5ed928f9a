internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
internal import Time

/// The stream of a call that is served in this process, which stands where that of a connection stands otherwise.
///
/// What comes is given to the service at the end of the turn, so that no response sets out while the request is being sent.
/// Belongs to the worker's thread.
final class LocalStream: HTTPStream, EndOfTurn {
    let call: Call
    private let user: any AttemptStreamUser
    private let worker: Worker
    private let isPlain: Bool
    private let limit: Int
    private var service: (any LocalService)?
    private var reader: MessageReader?
    private var held: ByteQueue?
    /// What has come and has not been given to the service.
    private var input: ByteQueue?
    private var hasEnd = false
    private var wasGivenEnd = false
    private var isScheduled = false
    private var isOpen = false
    private var hasHead = false
    private var pauses: PauseReason = []
    private var heldSince = Instant.max
    /// Whether nothing can be sent any more.
    private(set) var isOver = false
    /// Whether all has been sent, or nobody is there to take it.
    private var isFinished = false
    /// The last part of the response, while the service is given what has come of the request.
    private var last: LocalOutput?
    /// What makes a response slow, if it is to be.
    private var pace: LocalPace?

    init(for user: any AttemptStreamUser, of call: Call) {
        (self.user, self.call, worker) = (user, call, call.worker)
        // What the service sends is not to be translated: that of plain HTTP, and what it makes itself for a protocol.
        isPlain = call.upstreamLeg.spoken == .http || call.upstreamLeg.isServedRaw
        limit = call.callerLeg.listener.heldMessageLimit
    }

    // MARK: The request

    func send(head: HTTPHead, end: Bool) {
        user.holds(head)
        input = worker.acquireQueue()
        if !isPlain {
            let queue = worker.acquireQueue()
            held = queue
            // The stream before this one decompresses every message whose compression is named.
            reader = MessageReader(
                .grpc,
                .request,
                needsMessages: true,
                messageLimit: limit,
                held: queue,
                allowsCompressed: false
            )
        }
        service = call.upstreamLeg.service?(LocalExchange(self))
        hasEnd = end
        schedule()
    }

    func send(body: Span<UInt8>) {
        guard let input, !isOver || isReadingOn else { return }
        guard !isPlain || input.count + body.count <= limit else {
            guard !isOver else { return finishReading() }
            let problem = "a request message exceeds limits.held_message (\(limit) bytes)"
            return fail(.untranslatedRequest(RPCError(.resourceExhausted, problem)))
        }
        input.append(body)
        heldSince = worker.context.loop.now
        schedule()
    }

    func sendEnd(trailers: HTTPHead?) {
        hasEnd = true
        schedule()
    }

    /// Has what has come given to the service, since that wants more.
    func schedule() {
        guard !isScheduled, !isOver || isReadingOn else { return }
        isScheduled = true
        worker.atEndOfTurn(self)
    }

    func endOfTurn() {
        isScheduled = false
        guard !isFinished, let service else { return }
        if worker.turns.isSpent { return awaitTurn() }
        if !isOpen {
            isOpen = true
            service.opened()
            if isFinished { return }
        }
        deliver(to: service)
        if input?.isEmpty ?? true { heldSince = .max }
        if let last = last.take() { return emit(last) }
        if isOver, wasGivenEnd { finishReading() }
    }

    /// Lets other calls have their turn before the next message is given to the service.
    private func awaitTurn() {
        guard !isScheduled else { return }
        isScheduled = true
        worker.turns.wait { [self] in endOfTurn() }
    }

    private func deliver(to service: any LocalService) {
        if isPlain { deliverBody(to: service) } else { deliverMessages(to: service) }
    }

    /// Whether the response has ended, and the service is given the rest of the request.
    private var isReadingOn: Bool { isOver && !isFinished && service?.readsOn == true }

    /// The service has been given the rest of the request, as far as it comes.
    private func finishReading() {
        guard !isFinished, last == nil, pace?.isBusy != true else { return }
        finish()
        call.requestIsRead()
    }

    private func deliverBody(to service: any LocalService) {
        // All of it is wanted, however much waits.
        guard hasEnd else { return user.drained() }
        guard !wasGivenEnd, let body = input.take() else { return }
        wasGivenEnd = true
        service.received(body.readable)
        worker.turns.passed(body.count)
        if !isFinished { service.receivedEnd() }
        worker.release(body)
    }

    private func deliverMessages(to service: any LocalService) {
        guard var reader = reader.take(), let input = input.take() else { return }
        var position = 0
        // Not in the exchange's hands meanwhile: a response may end the call.
        while isOver ? isReadingOn : service.wantsMessage, !worker.turns.isSpent,
            let event = reader.next(in: input.readable, from: &position)
        {
            switch event {
            case .message(_, let location):
                let message = reader.bytes(at: location, in: input.readable)
                service.received(message)
                worker.turns.passed(message.count)
            case .error(let error): fail(error)
            case .pass, .end: break
            }
        }
        guard !isFinished else { return worker.release(input) }
        input.drop(position)
        (self.reader, self.input) = (reader, input)
        if worker.turns.isSpent { return awaitTurn() }
        if !input.isEmpty || !hasEnd { return user.drained() }
        guard !wasGivenEnd else { return }
        wasGivenEnd = true
        guard reader.isBetweenMessages || isOver else {
            return fail(RPCError(.invalidArgument, "the request ends in the middle of a message"))
        }
        service.receivedEnd()
    }

    // MARK: The response

    /// Whether the caller takes no more for now.
    var isPaused: Bool { !pauses.isEmpty || pace?.isBusy == true }

    /// Lets what is sent from now on take its time.
    func slowDown(to bytesPerSecond: Int) {
        pace = LocalPace(bytesPerSecond, on: worker.context.loop) { [unowned self] output in
            // The last part may be the end of the stream itself.
            let stream = self
            stream.deliver(output)
            if !stream.isOver, !stream.isPaused { stream.service?.resumed() }
        }
    }

    /// Sends the head of a response of RPC; what is sent next does so otherwise.
    func send(headers: [(name: [UInt8], value: [UInt8])]) {
        if isPlain { send(status: 200, headers: headers) } else { begin(responseHead(headers)) }
    }

    /// Sends the head of a response as it stands.
    func send(status: Int, headers: [(name: [UInt8], value: [UInt8])]) {
        begin(plainHead(status, headers))
    }

    /// Sends an interim response, unless the head of the response has been sent.
    func send(interim status: Int, headers: [(name: [UInt8], value: [UInt8])]) {
        guard !isOver, !hasHead else { return }
        let head = plainHead(status, headers)
        user.received(informational: head)
        worker.release(head)
    }

    private func plainHead(_ status: Int, _ headers: [(name: [UInt8], value: [UInt8])]) -> HTTPHead {
        let head = worker.acquireHead()
        head.status = status
        for (name, value) in headers {
            // It frames the body, and is no field of the head.
            let length = name.span.equals("content-length") ? value.span.decimal : nil
            if let length { head.contentLength = length } else { head.add(name: name.span, value: value.span) }
        }
        return head
    }

    private func begin(_ head: HTTPHead) {
        guard !isOver, !hasHead else { return worker.release(head) }
        hasHead = true
        emit(.head(head, end: false))
    }

    /// Sends a message, in the codec of the call.
    func send(_ message: Span<UInt8>) {
        send(headers: [])
        guard !isOver else { return }
        guard !isPlain else { return send(bytes: message) }
        let envelope = worker.acquireQueue()
        envelope.append(enveloping: message, flags: 0)
        send(bytes: envelope.readable)
        worker.release(envelope)
    }

    /// Sends bytes of the body as they stand.
    func send(bytes: Span<UInt8>) {
        guard !isOver, !bytes.isEmpty else { return }
        if pace == nil { user.received(body: bytes) } else { emit(.body(bytes.array)) }
    }

    /// Ends the response, with an error or with success.
    func end(_ error: RPCError?, trailers: [(name: [UInt8], value: [UInt8])]) {
        guard !isOver else { return }
        guard !isPlain else { return endPlain(error, trailers) }
        let fields = CallerSide.grpcFields(error) + trailers
        guard hasHead else { return close(.head(responseHead(fields), end: true)) }
        end(trailers: fields)
    }

    /// Ends the response with trailers as they stand.
    func end(trailers fields: [(name: [UInt8], value: [UInt8])]) {
        guard !isOver else { return }
        guard !fields.isEmpty else { return close(.end(trailers: nil)) }
        let head = worker.acquireHead()
        for (name, value) in fields { head.add(name: name.span, value: value.span) }
        close(.end(trailers: head))
    }

    /// Plain HTTP has no trailers that say how a call went: what has begun breaks off.
    private func endPlain(_ error: RPCError?, _ trailers: [(name: [UInt8], value: [UInt8])]) {
        guard !hasHead else { return error == nil ? end(trailers: trailers) : fail(.lost) }
        guard let error else { return respond(status: 200, headers: [], body: Span()) }
        let own = call.rpcProtocol.callerSide.response(to: error, requestContentType: Span())
        respond(status: own.status, headers: own.headers, body: own.body.span)
    }

    /// Sends a whole response of plain HTTP.
    func respond(status: Int, headers: [(name: [UInt8], value: [UInt8])], body: Span<UInt8>) {
        guard !isOver, !hasHead else { return }
        let head = plainHead(status, headers)
        // The length of a response that never has a body is that of another one, if it is known (RFC 9110 §8.6).
        let isBare = call.callerLeg.wantsHeadOnly || status == 204 || status == 304
        if !isBare || status == 200 && head.contentLength == nil && !body.isEmpty { head.contentLength = body.count }
        guard !isBare, !body.isEmpty else { return close(.head(head, end: true)) }
        begin(head)
        send(bytes: body)
        end(trailers: [])
    }

    /// Ends the exchange as an upstream would do that is not there, or goes away.
    func fail(_ error: UpstreamError) {
        guard !isOver else { return }
        finish()
        user.streamFailed(error)
    }

    private func fail(_ error: RPCError) { fail(.untranslatedRequest(error)) }

    private func responseHead(_ fields: [(name: [UInt8], value: [UInt8])]) -> HTTPHead {
        let head = worker.acquireHead()
        head.status = 200
        head.setContentType(.grpc, call.codecName)
        for (name, value) in fields { head.add(name: name.span, value: value.span) }
        return head
    }

    /// Sends the last part: the service sends nothing more.
    ///
    /// A service that reads on receives the queued part of the request first, at the end of the turn.
    private func close(_ output: LocalOutput) {
        isOver = true
        guard !wasGivenEnd, isReadingOn else { return emit(output) }
        last = output
        schedule()
    }

    private func emit(_ output: LocalOutput) {
        if let pace { pace.add(output) } else { deliver(output) }
    }

    private func deliver(_ output: LocalOutput) {
        if output.isLast, !isReadOn { finish() }
        switch output {
        case .head(let head, let end): user.received(head: head, end: end)
        case .body(let bytes): user.received(body: bytes.span)
        case .end(let trailers):
            user.receivedEnd(trailers: trailers)
            if let trailers { worker.release(trailers) }
        }
    }

    // MARK: Both

    /// Nothing is sent or comes any more.
    private func finish() {
        isOver = true
        isFinished = true
        heldSince = .max
        last = nil
        pace?.cancel()
        let service = self.service
        (self.service, reader) = (nil, nil)
        if let queue = input.take() { worker.release(queue) }
        if let queue = held.take() { worker.release(queue) }
        service?.ended()
    }

    func reset(_ reason: HTTPReset) {
        guard !isFinished else { return }
        if let service, isReadingOn { deliver(to: service) }
        finish()
    }

    var isReadOn: Bool { isReadingOn && !wasGivenEnd }

    func pause(_ reason: PauseReason) { pauses.insert(reason) }

    func resume(_ reason: PauseReason) {
        pauses.remove(reason)
        if !isPaused, !isOver { service?.resumed() }
    }

    func send(informational head: HTTPHead) {}
    var version: HTTPVersion { .http2 }
    var queuedBytes: Int { input?.count ?? 0 }
    var isCrowded: Bool { false }
    var heldBytes: Int { (input?.capacity ?? 0) + (held?.capacity ?? 0) + (service?.heldBytes ?? 0) }
    var waitsSince: Instant { heldSince }
}

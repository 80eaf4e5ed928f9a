internal import Bytes
public import Events
public import HTTP
internal import Policy
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// One call, from the head of its request to its record.
///
/// What interceptors see of it is in Call+View.swift and Call+ResponseView.swift. Belongs to its worker's thread.
///
/// It uses the caller's stream; its attempt uses the upstream's. It keeps the generation that it began with. How it goes
/// is in CallPath.swift, how it ends in CallEnd.swift.
public final class Call: HTTPStreamUser, EndOfTurn {
    /// How many bytes may wait on one side before the other is paused.
    static let highWater = 64 * 1024
    /// How many bytes wait on one side that is behind the other.
    static let lowWater = 16 * 1024
    /// How long the head of a response waits for what follows, where that may lead to a retry.
    static let headPatience = 500 * Duration.millisecond
    /// Likewise, while the request is under way: a caller may wait for the head before it goes on.
    static let streamHeadPatience = 50 * Duration.millisecond
    /// A caller that leaves so shortly before its deadline leaves because of that.
    static let deadlineTolerance = 20 * Duration.millisecond

    let worker: Worker
    let generation: Generation
    /// The side of it that the caller has.
    let callerLeg: CallerLeg
    /// The head of the request as it goes upstream; a retry begins with what it was at its mark.
    public let request: HTTPHead
    /// The side of it that the upstream has.
    var upstreamLeg: UpstreamLeg
    /// What is under way behind the heads, in both directions.
    var flows = Flows()
    /// The response on its way to the caller.
    var response: CallResponse
    var stage = Stage.open
    /// When its time is over, if that is ever.
    var deadline = CallDeadline()

    /// The number in the file, from 0, of the route that takes the call; nil if none does.
    var routeNumber: Int?
    var route: Route
    /// Whether the route is known, and with it what may be shown.
    var isRouted = false
    var run: ChainRun
    /// The hooks that run.
    var hooks = RunningHooks()
    /// The timers that interceptors have asked for.
    var timers: [Timer] = []

    var record = CallRecord()
    /// Where its time goes.
    var ledger: TimeLedger
    /// What its interceptors have done that is worth telling.
    var trace: DecisionTrace?
    /// The time for which its bodies have not moved.
    var movement = BodyMovement()
    /// Whether its hooks are timed.
    let isTimed: Bool
    /// Measures the messages of the request, where somebody wants to know.
    var meter: MessageMeter?
    /// Why the request has not been let in, if it has not.
    var rejection: RejectionLabel?
    /// How its response is resumed, if it may be.
    var resumption: Resumption?
    /// What the counters know the call by, once it is counted.
    var counted: StartedCall?
    /// What shows it to people, if somebody has opened a tap.
    var tap: CallTap?
    /// The body of the request, if parts of it are masked.
    var redactedBody: RedactedBody?
    /// Its spans, if it is traced.
    public var tracing: CallTracing?
    private var id: (UInt64, UInt64)?

    init(
        _ stream: any HTTPStream,
        head: HTTPHead,
        end: Bool,
        from peer: Peer,
        on listener: CallerService,
        rest: CallerLeg.REST? = nil
    ) {
        let worker = listener.worker
        let generation = worker.generation
        let classification = Classification(head)
        let request = worker.acquireHead()
        request.copy(head)
        upstreamLeg = UpstreamLeg(classification, pathVersion: request.targetVersion)
        (flows.request.hasArrived, flows.request.hasBody) = (end, !end)
        response = CallResponse(upstreamLeg.makeReader(messageLimit: listener.responseMessageLimit))
        record.stages.arrived = worker.context.loop.now
        ledger = TimeLedger(at: record.stages.arrived)
        isTimed = worker.measuresTime()
        route = generation.fallback
        run = ChainRun(route.chain)
        generation.calls += 1
        worker.context.meter.add(Self.size)
        // Last: what is stored before something is called is counted once more.
        callerLeg = CallerLeg(
            listener: listener,
            peer: peer,
            stream: stream,
            head: head,
            classification: classification,
            rest: rest
        )
        self.request = request
        self.worker = worker
        self.generation = generation
    }

    deinit {
        generation.calls -= 1
    }

    // MARK: Stages

    /// How far a call is.
    enum Stage {
        case open
        /// It ends, and nothing waits any more.
        case closing
        case over
    }

    var isOver: Bool { stage == .over }
    var isClosing: Bool { stage != .open }

    // MARK: What arrives from the caller

    package func received(informational head: HTTPHead) {}
    package func received(head: HTTPHead, end: Bool) {}

    package func received(body: Span<UInt8>) {
        guard !isOver else { return }
        record.requestBytes += body.count
        tap?.received(body, self)
        redactedBody?.add(body)
        if meter != nil, !measure(body) { return }
        if acceptsRequest, response.pending == nil {
            receiveRequest(body)
        } else {
            upstreamLeg.retryBuffer.skipReason = .incomplete
        }
    }

    package func receivedEnd(trailers: HTTPHead?) {
        guard !isOver else { return }
        flows.request.hasArrived = true
        tap?.receivedEnd(trailers: trailers, self)
        meter?.end()
        if let pending = response.pending { return respondToWhole(pending.response, pending.index) }
        // A response of our own is under way: a request without its end cannot be retried.
        if acceptsRequest {
            requestIsWhole(trailers: trailers)
        } else {
            upstreamLeg.retryBuffer.skipReason = .incomplete
        }
    }

    /// Whether the request still goes to an upstream; what comes of it otherwise is thrown away.
    var acceptsRequest: Bool { !isOver && response.wantsRequest }

    package func wasReset(_ reason: HTTPReset) {
        switch reason {
        case .error(let error):
            worker.counters.badRequest(error.label)
            if let limit = error.limit { worker.counters.limitHit(limit) }
            fail(RPCError(error.code, error.text, httpStatus: error.status), by: .martlet)
        case .shutdown:
            fail(RPCError(.unavailable, "Martlet is stopping, and the drain time is over"), by: .martlet)
        case .canceled, .connectionLost, .code, .unprocessed, .exceeded, .tooLargeForPeer:
            // Callers that have told their deadline leave when it is over, be it a moment before that is seen here.
            if isDeadlineOver { timePassed() }
            finish(code: .canceled, by: .caller)
        }
    }

    package func drained() {
        resumeResponse(.slowPeer)
    }

    package var isBehind: Bool { upstreamLeg.outbox != nil || upstreamLeg.attempt?.queuedBytes ?? 0 > Self.lowWater }

    // MARK: Identity

    /// Appends the call's id: 32 hexadecimal digits, made when somebody first asks.
    func appendID(to queue: ByteQueue) {
        let id = id ?? (worker.services.random.next(), worker.services.random.next())
        self.id = id
        queue.append(paddedHexadecimal: id.0)
        queue.append(paddedHexadecimal: id.1)
    }
}

extension Classification {
    /// Classifies the request that has this head.
    init(_ head: HTTPHead) {
        let version = head.first(.connectProtocolVersion)
        let isConnectVersion1 = version.map { head.value(at: $0).equals("1") } ?? false
        let path = head.path
        let query = head.query
        guard let index = head.first(.contentType) else {
            self.init(
                method: head.method,
                contentType: nil,
                contentTypeCount: 0,
                isConnectVersion1: isConnectVersion1,
                path: path,
                query: query
            )
            return
        }
        self.init(
            method: head.method,
            contentType: head.value(at: index),
            contentTypeCount: head.first(.contentType, from: index + 1) == nil ? 1 : 2,
            isConnectVersion1: isConnectVersion1,
            path: path,
            query: query
        )
    }
}

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
/// What interceptors see of it is in Call+View.swift. Belongs to its worker's thread.
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

    let worker: Worker
    let generation: Generation
    let listener: CallerService
    /// Who calls.
    public let peer: Peer
    let caller: any HTTPStream
    /// The head of the request, as it goes upstream; kept until the call is over.
    public let request: HTTPHead
    private var classified: Classification
    private var classifiedVersion: Int

    /// The number in the file, from 0, of the route that takes the call; nil if none does.
    var routeNumber: Int?
    var route: Route
    var run: ChainRun
    var attempt: Attempt?
    var record = CallRecord()
    /// Where its time goes.
    var ledger: TimeLedger
    /// Why there is no response from the upstream, if that is why.
    var error: UpstreamError?
    /// Measures the messages of the request, where somebody wants to know.
    var meter: MessageMeter?
    var reader: ResponseReader
    /// What its interceptors have done that is worth telling.
    var trace: DecisionTrace?
    /// Whether its hooks are timed.
    let isTimed: Bool
    /// What is under way behind the heads, in both directions.
    var flows = Flows()
    /// Hooks are running, this many within each other; suspensions that they have resumed are looked at after them.
    var hooksUnderWay = 0
    var resumedInHook: [(Direction, Int)] = []

    // MARK: The request on its way

    /// What is wrong with the caller's time.
    var timeoutError: RPCError?
    /// Why the request has not been let in, if it has not.
    var rejection: RejectionLabel?
    var requestEnded = false
    /// The head is through the chain.
    var hasHeadLeft = false
    /// So is the end.
    var hasRequestLeft = false
    var isForwarded = false
    /// The request goes through a part of the chain once more, for a retry.
    var isRetry = false
    /// What the upstream adds to the head has been added once, and the mark is from before that.
    var hasMark = false
    /// What a Connect GET asks for, if that is other than what has come.
    var requestQuery: ByteQueue?
    /// What waits for a connection, or is retried, is being sent; and why the attempt has failed meanwhile.
    var isSending = false
    var errorWhileSending: UpstreamError?
    /// What is through the chain and waits for a connection.
    var outbox: ByteQueue?
    /// The body as far as it has been sent; nil if there is none, or too much of it.
    var retryBuffer: ByteQueue?
    /// Why the request cannot be retried from what is kept of it, if it cannot.
    var requestSkipReason: RetrySkipReason?
    /// An interceptor may retry the call: what is sent of it is kept until something of a response goes out.
    var keepsRequest = false

    // MARK: The response on its way

    /// How many responses have set out on their way back, each in the place of the one before it.
    var responses = 0
    /// How many of them there were when the call was retried: they are none any more.
    var discardedResponses = 0
    /// The response is given here.
    var hasResponded = false
    /// What was decided here, if that is so.
    var ownOutcome: Outcome?
    /// What is held of the response as one message is none of RPC.
    var isPlainBody = false
    var responseCompression = Compression.identity
    /// The frame that has ended the body.
    var responseEndFrame: EndFrame?
    /// The head is all that there is.
    var isHeadLast = false
    /// The upstream has failed behind a response that is still on its way: what comes of the request is nobody's.
    var hasUpstreamFailed = false
    /// An interceptor has ended the response: what still comes of it is nobody's.
    var isResponseClosed = false
    /// The response goes to the caller only when its end is known.
    var holdsResponse = false
    /// It has turned out too large to be held.
    var isReleased = false
    var heldHead: HTTPHead?
    /// Only the head waits, until something follows it.
    var holdsHead = false
    var headTimer: Timer?
    var heldBody: ByteQueue?
    /// Whether what the caller has got stands between two messages, where that is not where the reader stands.
    var mayEndResponse: Bool?
    /// A response of our own that waits for the request to have come whole, and the link that has given it.
    var heldResponse: (response: LocalResponse, index: Int)?
    /// The messages of a response that was given here.
    var ownMessages = 0
    var headSent = false
    /// The call ends, and nothing waits any more.
    var isClosing = false
    var isOver = false

    /// What the counters know the call by, once an interceptor has counted it.
    var counted: StartedCall?
    var callTimer: Timer?
    /// Those that interceptors have asked for.
    var timers: [Timer] = []
    /// When the time that the call is allowed is over.
    var deadline: Instant?
    /// Whether that is sooner than the caller says, if it says anything.
    var isDeadlineOurs = false
    var deadlineTimer: Timer?
    private var id: (UInt64, UInt64)?

    init(_ stream: any HTTPStream, head: HTTPHead, end: Bool, from peer: Peer, on listener: CallerService) {
        let worker = listener.worker
        let generation = worker.generation
        let classified = Classification(head)
        requestEnded = end
        record.stages.arrived = worker.context.loop.now
        ledger = TimeLedger(at: record.stages.arrived)
        classifiedVersion = head.targetVersion
        reader = ResponseReader(
            rpcProtocol: classified.rpcProtocol,
            codec: classified.codec,
            messageLimit: listener.responseMessageLimit
        )
        isTimed = worker.measuresTime()
        route = generation.fallback
        run = ChainRun(route.chain)
        generation.calls += 1
        worker.context.meter.add(Self.size)
        // Last: what is stored before something is called is counted once more.
        self.classified = classified
        self.worker = worker
        self.generation = generation
        self.listener = listener
        self.peer = peer
        caller = stream
        request = head
    }

    deinit {
        generation.calls -= 1
    }

    /// What the head tells of the call.
    ///
    /// The procedure names places in the path: whoever has changed that, they are those in the path as it is now.
    var classification: Classification {
        let request = request
        if request.targetVersion != classifiedVersion {
            classifiedVersion = request.targetVersion
            classified.update(path: request.path)
        }
        return classified
    }

    // MARK: What arrives from the caller

    package func received(informational head: HTTPHead) {}
    package func received(head: HTTPHead, end: Bool) {}

    package func received(body: Span<UInt8>) {
        guard !isOver else { return }
        record.requestBytes += body.count
        if meter != nil, !measure(body) { return }
        if acceptsRequest, heldResponse == nil { receiveRequest(body) } else { requestSkipReason = .incomplete }
    }

    package func receivedEnd(trailers: HTTPHead?) {
        guard !isOver else { return }
        requestEnded = true
        meter?.end()
        if let heldResponse { return respondToWhole(heldResponse.response, heldResponse.index) }
        // A response of our own is under way: a request without its end cannot be retried.
        if acceptsRequest { requestIsWhole(trailers: trailers) } else { requestSkipReason = .incomplete }
    }

    /// Whether the request still goes to an upstream; what comes of it otherwise is thrown away.
    var acceptsRequest: Bool { !isOver && !hasResponded && !isResponseClosed && !hasUpstreamFailed }

    package func wasReset(_ reason: HTTPReset) {
        switch reason {
        case .error(let error):
            worker.counters.badRequest(error.label)
            fail(RPCError(.invalidArgument, error.text, httpStatus: error.status), by: .martlet)
        case .shutdown:
            fail(RPCError(.unavailable, "Martlet is stopping, and the drain time is over"), by: .martlet)
        case .canceled, .connectionLost, .code, .unprocessed, .exceeded:
            finish(code: .canceled, by: .caller)
        }
    }

    package func drained() {
        attempt?.resume(.slowPeer)
    }

    package var isBehind: Bool { outbox != nil || attempt?.queuedBytes ?? 0 > Self.lowWater }

    // MARK: The retry buffer

    /// Whether the request could be retried from what is kept of it.
    var isRetryable: Bool { requestSkipReason == nil && !headSent }

    func keepForRetry(_ body: Span<UInt8>, by attempt: Attempt) {
        guard requestSkipReason == nil, !headSent, keepsRequest || attempt.mayNeedRetryBuffer else { return }
        let queue = retryBuffer.take() ?? worker.acquireQueue()
        queue.append(body)
        let isTooMuch = queue.count > route.upstream?.retryBufferLimit ?? 0
        retryBuffer = queue
        if isTooMuch { discardRetryBuffer(.buffer) }
    }

    /// Nothing will be retried.
    func discardRetryBuffer(_ reason: RetrySkipReason) {
        requestSkipReason = requestSkipReason ?? reason
        releaseRetryBuffer()
    }

    /// Nobody gets any more of the request, or gets it again.
    func releaseRequest() {
        discardRetryBuffer(.incomplete)
        releaseRest(.request)
        if let queue = outbox.take() { worker.release(queue) }
        caller.resume(.slowPeer)
        caller.resume(.noUpstream)
    }

    /// What was kept of the body is not needed any more.
    func releaseRetryBuffer() {
        if let queue = retryBuffer.take() { worker.release(queue) }
    }

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

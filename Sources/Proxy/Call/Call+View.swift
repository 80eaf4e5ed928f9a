internal import Bytes
public import Configuration
public import Events
public import HTTP
public import Protocols
public import RPC
public import Time

/// What interceptors see of a call, beside the head of its request. Nothing of it is good once `finished` has returned.
extension Call {
    /// The head of the request as it came, by which the caller gets its response; not to be changed.
    public var received: HTTPHead { callerLeg.head }

    /// Who calls.
    public var peer: Peer { callerLeg.peer }

    /// What the caller speaks.
    public var rpcProtocol: RPCProtocol { callerLeg.rpcProtocol }

    /// The name of what the caller speaks: that of the protocol, or `rest`, of which interceptors see a Connect call with JSON.
    public var protocolName: StaticString { callerLeg.rest == nil ? rpcProtocol.name : "rest" }

    /// How the caller's messages are written.
    public var codec: Codec { callerLeg.classification.codec }

    /// The service and the method, as places in the path of `request`; in plain HTTP only with a package.
    public var procedure: Procedure? { upstreamLeg.procedure(of: request) }

    /// The full name of the RPC service, such as `pkg.Service`, if the path names one.
    public var service: String? {
        let request = request
        return procedure.map { request.path.extracting($0.service).string }
    }

    /// The name of the RPC method, if the path names one.
    public var method: String? {
        let request = request
        return procedure.map { request.path.extracting($0.method).string }
    }

    /// The procedure of a call of RPC: a request of plain HTTP may have the same path, and is none whatever it is.
    public var rpcProcedure: Procedure? {
        rpcProtocol == .http ? nil : procedure
    }

    /// Whether the call is one of the methods; plain HTTP has none.
    public func isOf(_ methods: [MethodPattern]) -> Bool {
        guard !methods.isEmpty, let procedure = rpcProcedure else { return false }
        let request = request
        let path = request.path
        return methods.contains { listed in
            path.extracting(procedure.service).equals(listed.service)
                && (listed.method == [UInt8(ascii: "*")] || path.extracting(procedure.method).equals(listed.method))
        }
    }

    /// Why there is no response from the upstream, if that is why the call has failed.
    public var upstreamError: UpstreamError? { upstreamLeg.error }

    /// The upstream that the call goes to; nil if its chain has to respond.
    public var upstream: Upstream? { route.upstream }

    /// The name of the upstream that the call goes to; nil if its chain has to respond.
    public var upstreamName: String? { route.upstream?.settings.name }

    /// The outcome; good in `finished`.
    public var code: RPCCode { record.code }

    /// What the caller was told, or what the upstream said, about a failure; good in `finished`.
    public var message: String { String(decoding: record.message, as: UTF8.self) }

    /// The whole time of the call; good in `finished`.
    public var duration: Duration { record.duration }

    /// Who decided what the caller got, if not the upstream: `martlet`, `caller` or `interceptor:NAME`; good in `finished`.
    public var decidedBy: String? {
        switch record.decider {
        case .upstream: nil
        case .martlet: "martlet"
        case .caller: "caller"
        case .interceptor(let name): "interceptor:\(name)"
        }
    }

    /// When the head of the request had come, by the clock of `now`.
    public var startTime: Instant { record.stages.arrived }

    /// The monotonic time of the worker's loop.
    public var now: Instant { worker.context.loop.now }

    /// When the time of the call is over, by the clock of `now`; nil if it has no limit.
    public var deadlineTime: Instant? { deadline.time }

    /// The number of held bytes in one direction above which no more of it is read (`limits.held_bytes`).
    public var maxHeldBytes: Int { callerLeg.listener.heldByteLimit }

    /// How long an event may wait for an interceptor; nil is without end.
    public var suspensionTimeout: Duration? { callerLeg.listener.suspensionTimeout }

    /// The name of the call: `pkg.Service/Method`, or in plain HTTP the method and the target, `GET /v1/orders?page=1`.
    public var fullName: [UInt8] {
        let request = request
        guard rpcProcedure == nil else { return Array(request.path.array.dropFirst()) }
        return request.method.array + [UInt8(ascii: " ")] + request.target.array
    }

    /// How often the call has been tried, with the attempt that is under way.
    public var attempts: Int { record.attempts }

    /// The number of the attempt whose response passes, or that of the last one if none is under way.
    public var currentAttempt: Int { upstreamLeg.attempt?.number ?? record.attempts }

    /// The bytes of the request that wait at an interceptor behind what that has suspended.
    public func heldRequest<Link: Interceptor>(at link: Link) -> [UInt8] {
        let held = flows.request.queues.queue(at: run.index(of: link))?.events ?? []
        return held.reduce(into: []) { bytes, event in
            if let queue = event.bytes { bytes += queue.readable.array }
        }
    }

    /// Whether something of the request may still come behind its head.
    public var awaitsBody: Bool { !flows.request.hasArrived }

    /// What is kept out of all that is shown of the call.
    public var redactions: Redactions { run.chain.redactions }

    /// What an interceptor keeps for the call; nil until it has kept something, and when the call is over.
    ///
    /// While it is changed in its place, the interceptor finds nothing there.
    ///
    /// - Precondition: the interceptor is one of the call's chain.
    public subscript<Link: Interceptor>(stateOf link: Link) -> Link.CallState? {
        get { run.state(of: link) }
        // Not with `run` in hand: what changes the state may use the call.
        _modify {
            var state = run.takeState(of: link)
            defer { if let state = state.take() { run.put(state, of: link) } }
            yield &state
        }
    }

    /// Lets an interceptor have no further part in the call: it is told nothing more of it, and nothing is done for it.
    public func leave<Link: Interceptor>(_ link: Link) {
        self[stateOf: link] = nil
        run.leave(run.index(of: link))
    }

    /// Calls `action` on the worker's thread when `time` has passed, unless the timer is cancelled before
    /// then, or the call is over.
    public func timer(after time: Duration, _ action: @escaping () -> Void) -> Timer {
        let timer = Timer(on: worker.context.loop.timers, action: action)
        timer.arm(after: time)
        timers.append(timer)
        return timer
    }

    /// Its shape, as far as it can be told without the service's schema: all gRPC may be streams.
    var shape: CallShapes {
        switch rpcProtocol {
        case .connectUnary, .connectGet, .http: .unary
        case .connectStream, .grpc, .grpcWeb, .grpcWebText: .stream
        }
    }

    /// How the messages are compressed that the caller sends; that of a Connect GET is in the query as it goes upstream.
    var requestCompression: Compression {
        rpcProtocol == .connectGet ? compressionUpstream : received.compression(rpcProtocol)
    }

    /// How the messages of the request are compressed on their way upstream, as its head says.
    var compressionUpstream: Compression {
        let request = request
        guard upstreamLeg.isQuery else { return request.compression(upstreamLeg.rpcProtocol) }
        return ConnectQuery(request.query)?.compression ?? .identity
    }
}

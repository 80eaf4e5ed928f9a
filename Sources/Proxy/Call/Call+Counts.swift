internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// What is counted of a call by its method, its route and its upstream, once an interceptor has asked for it.
extension Call {
    /// Counts the call in the metrics, from now until its end: once, however often it is asked for.
    ///
    /// For `requestHead`, of a plan that asks for `messageCounts`: what has passed before is not counted.
    ///
    /// - Parameter limit: how many methods the worker counts by name, from now on; calls of others count as `_OTHER`.
    public func startCounting(methods limit: Int) {
        guard counted == nil, !isOver else { return }
        worker.counters.setMethodLimit(limit)
        let request = request
        counted = worker.counters.start(request.path, callerLeg.rest == nil ? rpcProtocol.callProtocol : .rest)
    }

    /// Lets the counters know the method by its name, once the upstream has shown that it exists.
    ///
    /// The spans of a call that is not counted need the name as well.
    func admitMethod() {
        guard counted != nil || tracing != nil, let procedure = rpcProcedure else { return }
        let request = request
        let path = request.path
        let (service, method) = (path.extracting(procedure.service), path.extracting(procedure.method))
        guard var counted else { return worker.counters.admit(path: path, service: service, method: method) }
        worker.counters.admit(&counted, path: path, service: service, method: method)
        self.counted = counted
    }

    /// Counts what became of the call, whose record is complete.
    func endCounting() {
        guard let counted else { return }
        let code = record.code.rawValue
        let span = tracing?.exported
        worker.counters.end(
            counted,
            route: generation.counter(ofRoute: routeNumber),
            code: code,
            duration: duration,
            messages: messageCounts,
            span: span
        )
        if record.code != .ok { countError() }
        guard let upstream = route.upstream, record.stages.forwarded > .start else { return }
        let upstreamDuration = record.stages.ended - record.stages.forwarded
        worker.counters.upstreamCall(upstream.counter, code: code, duration: upstreamDuration, span: span)
    }
}

extension Call {
    /// Counts the error of the call by who decided it.
    private func countError() {
        let code = record.code.rawValue
        switch record.decider {
        case .upstream: worker.counters.callFailed(code, decidedBy: .upstream)
        case .martlet: worker.counters.callFailed(code, decidedBy: .martlet)
        case .caller: worker.counters.callFailed(code, decidedBy: .caller)
        case .interceptor(let name): worker.counters.callFailed(code, decidedBy: name)
        }
    }
}

extension RPCProtocol {
    /// What the call is counted under.
    fileprivate var callProtocol: CallProtocol {
        switch self {
        case .connectUnary, .connectGet, .connectStream: .connect
        case .grpc: .grpc
        case .grpcWeb, .grpcWebText: .grpcWeb
        case .http: .http
        }
    }
}

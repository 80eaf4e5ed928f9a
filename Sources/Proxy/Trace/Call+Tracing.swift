internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Policy
internal import Protocols
internal import RPC
public import Telemetry
internal import Time

/// The spans of a call: what upstreams are told of them, and what is exported when the call is over.
extension Call {
    // MARK: Under way

    /// An attempt begins, which has a span if the call has one.
    func beginSpan(of attempt: Attempt) {
        guard let tracing, tracing.isRecorded else { return }
        let id = max(1, worker.services.random.next())
        attempt.spanIndex = tracing.begin(id, at: worker.context.loop.now, isHedge: attempt.isHedge)
    }

    /// An attempt is about to send the head of the request, which names its span.
    func nameSpan(of attempt: Attempt) {
        guard let tracing else { return }
        if let index = attempt.spanIndex, let address = attempt.peerAddress { tracing.connected(index, to: address) }
        // Beyond the most attempts that have spans, nothing says where they belong.
        guard !tracing.headers.isEmpty, attempt.spanIndex != nil || !tracing.isRecorded else { return }
        let span = attempt.spanIndex.map { tracing.attempts[$0].id } ?? tracing.context.span
        let context = tracing.context.with(span: span)
        let queue = worker.acquireQueue()
        if tracing.headers.contains(.traceparent) {
            context.appendTraceparent(to: queue)
            request.set(Self.traceparent, queue.readable)
            queue.removeAll()
        }
        if tracing.headers.contains(.b3) {
            for name in Self.b3Parts { request.remove(name) }
            B3Context.append(context, to: queue)
            request.set(Self.b3, queue.readable)
        }
        worker.release(queue)
    }

    private static let traceparent = FieldName("traceparent")
    private static let b3 = FieldName("b3")
    /// What says the same in another way.
    private static let b3Parts = ["traceid", "spanid", "parentspanid", "sampled", "flags"].map {
        FieldName("x-b3-\($0)")
    }
    private static let tracestate = FieldName("tracestate")

    // MARK: Over

    /// The spans of the call, the first of which is its own; good in `finished`.
    ///
    /// Whoever exports them says so with `noteExport()`.
    ///
    /// - Parameters:
    ///   - attributes: what the span of the call says beside.
    ///   - isLate: whether they are exported although nobody has sampled the trace.
    /// - Returns: the spans; none if the call has none.
    public func spanRecords(_ attributes: [SpanRecord.Attribute], isLate: Bool) -> [SpanRecord] {
        guard let tracing else { return [] }
        let (name, rpcAttributes) = spanName
        let ended = record.stages.ended
        let message = shownMessage
        let base = endTime
        func wall(_ time: Instant) -> WallTime { base - (ended - time) }
        let late = isLate ? [SpanRecord.Attribute("martlet.late", .bool(true))] : []
        let own = SpanRecord(
            tracing.context,
            parent: tracing.parent,
            state: traceState,
            .server,
            name: name,
            start: wall(record.stages.arrived),
            end: wall(ended),
            attributes: rpcAttributes + callAttributes + late + attributes,
            events: spanEvents(wall),
            error: isServerError ? message : nil
        )
        let responding = upstreamLeg.attempt?.spanIndex
        let attempts = tracing.attempts.enumerated().map { index, attempt in
            let result = attempt.result ?? .canceled
            // What the caller got is what the last one has brought, unless somebody else has decided.
            let isLast = index == responding && record.decider == .upstream && result == .ok
            let code = isLast ? record.code : attempt.code
            return SpanRecord(
                tracing.context.with(span: attempt.id),
                parent: tracing.context.span,
                state: traceState,
                .client,
                name: name,
                start: wall(attempt.start),
                end: wall(attempt.end ?? ended),
                attributes: rpcAttributes + attemptAttributes(attempt, result, code) + late,
                error: isClientError(attempt, result, code) ? (isLast ? message : []) : nil
            )
        }
        return [own] + attempts
    }

    private var traceState: [UInt8] {
        let request = request
        var (state, next) = ([UInt8](), request.first(Self.tracestate))
        while let index = next {
            if !state.isEmpty { state.append(UInt8(ascii: ",")) }
            state += request.value(at: index).array
            next = request.first(Self.tracestate, from: index + 1)
        }
        return Array(state.prefix(Self.maxText))
    }

    /// The most bytes of a text that come from a request.
    static let maxText = 1024

    /// When the call ended: the monotonic clock says how long that is ago, the other when.
    private var endTime: WallTime {
        let clock = worker.context.loop.clock
        return clock.wall - (clock.now - record.stages.ended)
    }

    /// The spans of the call have been exported; good in `finished`.
    public func noteExport() {
        guard let tracing else { return }
        tracing.exported = ExportedSpan(tracing.context, end: endTime)
    }

    private var callAttributes: [SpanRecord.Attribute] {
        let received = received
        var attributes = [SpanRecord.Attribute("server.address", .text(Host.withoutPort(received.authority).array))]
        if let status = statusCode(record.code) { attributes.append(status) }
        if record.status > 0 {
            attributes.append(SpanRecord.Attribute("http.response.status_code", .number(record.status)))
        }
        if isServerError { attributes.append(SpanRecord.Attribute("error.type", errorType)) }
        let id = worker.acquireQueue()
        appendID(to: id)
        attributes.append(SpanRecord.Attribute("martlet.call", .text(id.readable.array)))
        worker.release(id)
        if peer.isTCP {
            attributes += Self.attributes(peer.text, "client.address", "client.port")
        } else {
            attributes.append(SpanRecord.Attribute("client.address", .text(peer.text)))
        }
        attributes.append(SpanRecord.Attribute("martlet.decided_by", decidedBy ?? "upstream"))
        if let number = routeNumber {
            let name = generation.name(ofRoute: number).map { String(decoding: $0, as: UTF8.self) }
            attributes.append(SpanRecord.Attribute("martlet.route", name ?? "\(number)"))
        }
        return attributes
    }

    /// An address as the conventions have it: without a port, which is another attribute.
    private static func attributes(_ text: [UInt8], _ name: String, _ port: String) -> [SpanRecord.Attribute] {
        guard text.first != UInt8(ascii: "/"), let colon = text.lastIndex(of: UInt8(ascii: ":")) else {
            return [SpanRecord.Attribute(name, .text(text))]
        }
        let number = text[(colon + 1)...].reduce(0) { 0x30...0x39 ~= $1 ? $0 * 10 + Int($1 & 15) : $0 }
        let isBracketed = text.first == UInt8(ascii: "[")
        let host = isBracketed ? text[1..<(colon - 1)] : text[..<colon]
        return [SpanRecord.Attribute(name, .text(Array(host))), SpanRecord.Attribute(port, .number(number))]
    }

    private func attemptAttributes(
        _ attempt: CallTracing.AttemptSpan,
        _ result: AttemptResult,
        _ code: RPCCode?
    ) -> [SpanRecord.Attribute] {
        var attributes: [SpanRecord.Attribute] = []
        if let upstream = route.upstream {
            attributes.append(SpanRecord.Attribute("martlet.upstream", upstream.settings.name))
            if case .tcp(let host) = upstream.settings.url.endpoint {
                attributes.append(SpanRecord.Attribute("server.address", host.host))
                attributes.append(SpanRecord.Attribute("server.port", .number(Int(host.port))))
            }
        }
        if let address = attempt.address {
            attributes += Self.attributes(Array("\(address)".utf8), "network.peer.address", "network.peer.port")
        }
        if let code, let status = statusCode(code) { attributes.append(status) }
        if let status = attempt.status {
            attributes.append(SpanRecord.Attribute("http.response.status_code", .number(status)))
        }
        attributes.append(SpanRecord.Attribute("martlet.result", result.label.description))
        if attempt.isHedge { attributes.append(SpanRecord.Attribute("martlet.hedge", .bool(true))) }
        if result != .ok, result != .canceled {
            attributes.append(SpanRecord.Attribute("error.type", result.label.description))
        }
        return attributes
    }

    /// The code as the protocol writes it; Connect has none for success.
    private func statusCode(_ code: RPCCode) -> SpanRecord.Attribute? {
        guard rpcProcedure != nil else { return nil }
        guard upstreamLeg.rpcProtocol.family == .connect else {
            return SpanRecord.Attribute("rpc.response.status_code", code.name.description.uppercased())
        }
        return code == .ok ? nil : SpanRecord.Attribute("rpc.response.status_code", code.name.description)
    }

    private var errorType: String {
        rpcProcedure == nil && record.status >= 500 ? "\(record.status)" : record.code.name.description
    }

    /// Whether the call has failed for reasons that are not the caller's.
    private var isServerError: Bool {
        // A status of plain HTTP has come before a body that may have been cut off.
        if rpcProcedure == nil, record.status >= 500 { return true }
        guard rpcProcedure != nil || record.decider == .martlet else { return false }
        switch record.code {
        case .unknown, .deadlineExceeded, .unimplemented, .internal, .unavailable, .dataLoss: return true
        default: return false
        }
    }

    private func isClientError(
        _ attempt: CallTracing.AttemptSpan,
        _ result: AttemptResult,
        _ code: RPCCode?
    ) -> Bool {
        guard result == .ok else { return result != .canceled }
        return attempt.status ?? 200 >= 400 || rpcProcedure != nil && code ?? .ok != .ok
    }

    /// What interceptors have decided, and what has waited at them.
    private func spanEvents(_ wall: (Instant) -> WallTime) -> [SpanRecord.Event] {
        (trace?.notes ?? []).map { note in
            var attributes = [
                SpanRecord.Attribute("martlet.interceptor", run.chain.links[note.index].name),
                SpanRecord.Attribute("martlet.event", note.event.rawValue),
            ]
            if let text = note.text { attributes.append(SpanRecord.Attribute("martlet.reason", text)) }
            if let time = note.time {
                attributes.append(SpanRecord.Attribute("martlet.ms", .number(time / .millisecond)))
            }
            return SpanRecord.Event(at: wall(note.at), "martlet.\(note.verdict.rawValue)", attributes)
        }
    }
}

public import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
public import Telemetry
public import Time
internal import Types

/// What is told of a call that is over, in the access log and on the admin page of recent calls.
extension AccessLogLine {
    /// Begins a line that is written now, with the id of the call.
    public init(about call: Call, to queue: ByteQueue, formatter: TimestampFormatter) {
        self.init(to: queue, at: call.worker.context.loop.clock.wall, formatter: formatter)
        let id = ByteQueue(pool: call.worker.context.buffers)
        call.appendID(to: id)
        field("call", text: id.readable)
    }

    /// Adds the fields of a call; `further` adds those that stand between request and outcome.
    public mutating func describe(_ call: Call, _ further: (inout AccessLogLine) -> Void = { _ in }) {
        writeIdentity(call)
        writeRequest(call)
        further(&self)
        writeOutcome(call)
        if call.record.code != .ok || call.record.attempts > 1 { writeSpent(call) }
        if call.record.attempts > 1 { writeAttempts(call) }
        if call.logsTrace { writeTrace(call) }
    }

    /// Adds the fields of a call that is under way: what it is at, and how much of its bodies has passed.
    mutating func describeProgress(_ call: Call) {
        writeIdentity(call)
        writeRequest(call)
        let (record, now) = (call.record, call.now)
        let elapsed = now - record.stages.arrived
        field("phase", text: call.ledger.current.name)
        field("elapsed_ms", milliseconds: elapsed)
        if let stall = call.stall(at: now), now - stall.since >= .second {
            field("stalled", text: stall.reason.name)
            field("stalled_ms", milliseconds: now - stall.since)
        }
        field("attempts", number: record.attempts)
        if record.status > 0 { field("status", number: record.status) }
        field("request_bytes", number: record.requestBytes)
        let received = call.received
        if let length = received.contentLength {
            field("request_length", number: length)
            field("request_share", thousandths: BodyShare(record.requestBytes, of: length).thousandths)
        }
        if let spool = call.upstreamLeg.retryBuffer.spool { field("spooled_bytes", number: spool.layout.count) }
        field("response_bytes", number: record.responseBytes)
        if let length = record.responseLength, !call.callerLeg.wantsHeadOnly {
            field("response_length", number: length)
            field("response_share", thousandths: BodyShare(record.responseBytes, of: length).thousandths)
        }
        // Since the body began to come, or, as long as it is sent, since the call did.
        let began = record.responseBytes > 0 ? record.stages.responded : record.stages.arrived
        let bytes = record.responseBytes > 0 ? record.responseBytes : record.requestBytes
        let time = max(1, (now - began) / .millisecond)
        field("bytes_per_s", number: bytes / time * 1000 + bytes % time * 1000 / time)
    }

    /// Adds the decision trace, if there is one.
    mutating func writeTrace(_ call: Call) {
        guard let trace = call.trace else { return }
        beginArray("trace")
        for note in trace.notes {
            beginItem()
            field("interceptor", text: Array(call.run.chain.links[note.index].name.utf8).span)
            field("event", text: Array(note.event.rawValue.utf8).span)
            field("verdict", text: Array(note.verdict.rawValue.utf8).span)
            let changes = trace.changes(of: note, in: call.request)
            if !changes.isEmpty { field("changes", texts: changes) }
            if let text = note.text { field("reason", text: Array(text.utf8).span) }
            if let time = note.time { field("ms", milliseconds: time) }
            endObject()
        }
        endArray()
        if trace.dropped > 0 { field("trace_dropped", number: trace.dropped) }
    }

    mutating func writeIdentity(_ call: Call) {
        let listener = call.callerLeg.listener.name
        field("listener", text: listener.span)
        let peer = call.peer.text
        field("peer", text: peer.span)
        field("protocol", text: call.protocolName)
        guard let context = call.tracing?.context else { return }
        let id = ByteQueue(pool: call.worker.context.buffers)
        id.append(paddedHexadecimal: context.traceHigh)
        id.append(paddedHexadecimal: context.traceLow)
        field("trace_id", text: id.readable)
    }

    mutating func writeRequest(_ call: Call) {
        let (received, request) = (call.received, call.request)
        if let procedure = call.rpcProcedure {
            field("service", text: request.path.extracting(procedure.service))
            field("method", shown: request.path.extracting(procedure.method))
        } else {
            null("service")
            null("method")
        }
        if let rest = call.callerLeg.rest {
            field("http_method", text: rest.httpMethod.span)
            field("host", text: received.authority)
            field("path", shown: rest.path.span)
            field("rest_path", text: Array(rest.binding.text.utf8).span)
        } else {
            field("http_method", text: request.method)
            field("host", text: received.authority)
            field("path", shown: request.path)
        }
        writeRoute(call)
        if let upstream = call.route.upstream {
            let name = upstream.name
            field("upstream", text: name.span)
        } else {
            null("upstream")
        }
        if call.upstreamLeg.isForwarded {
            field("upstream_host", text: request.authority)
        } else {
            null("upstream_host")
        }
        writeAddresses(call.upstreamLeg)
        if let text = call.translationText { field("translated", text: Array(text.utf8).span) }
    }

    /// Adds a part of a URL without the credentials in it: paths of tokens, or of other URLs.
    private mutating func field(_ name: StaticString, shown text: Span<UInt8>) {
        guard MaskedText.mayHide(text), let masked = MaskedText.masked(text.array, .url) else {
            return field(name, text: text)
        }
        field(name, text: masked.span)
    }

    /// Adds the address that has responded, or was asked last, and those that were asked before or beside it.
    mutating func writeAddresses(_ leg: UpstreamLeg) {
        guard let last = leg.attempt?.placement?.address ?? leg.address, let address = last.address else { return }
        field("upstream_address", text: Array("\(address)".utf8).span)
        let others = leg.allTried.filter { $0 !== last }.compactMap(\.address)
        guard !others.isEmpty else { return }
        let text = others.map { "\($0)" }.joined(separator: ", ")
        field("other_addresses", text: Array(text.utf8).span)
    }

    /// Adds the route: its name, its number if it has none, or null if no route took the call.
    mutating func writeRoute(_ call: Call) {
        guard let number = call.routeNumber else { return null("route") }
        if let name = call.generation.name(ofRoute: number) {
            field("route", text: name.span)
        } else {
            field("route", number: number)
        }
    }

    mutating func writeOutcome(_ call: Call) {
        let record = call.record
        field("code", text: record.code.name)
        field("status", number: record.status)
        field("request_bytes", number: record.requestBytes)
        field("response_bytes", number: record.responseBytes)
        field("duration_ms", milliseconds: record.duration)
        writeStages(call)
        field("attempts", number: record.attempts)
        if let cache = record.cache { field("cache", text: cache.label) }
        if record.hedges > 0 { field("hedges", number: record.hedges) }
        switch record.decider {
        case .upstream: field("decided_by", text: "upstream" as StaticString)
        case .martlet: field("decided_by", text: "martlet" as StaticString)
        case .caller: field("decided_by", text: "caller" as StaticString)
        case .interceptor(let name): field("decided_by", text: Array("interceptor:\(name)".utf8).span)
        }
        if !record.message.isEmpty { field("message", text: call.shownMessage.span) }
    }
}

extension Stall.Reason {
    /// What a call waits for.
    fileprivate var name: StaticString {
        switch self {
        case .requestBody: "request_body"
        case .response: "response"
        case .connection: "connection"
        case .silence: "silence"
        }
    }
}

extension TimeLedger.Phase {
    /// What a call is at.
    fileprivate var name: StaticString {
        switch self {
        case .chain: "chain"
        case .waiting: "waiting"
        case .connecting: "connecting"
        case .attempt: "attempt"
        }
    }
}

internal import Bytes
internal import RPC
internal import Telemetry
internal import Time

/// Where the time of a call has gone, in the access log and on the admin page of recent calls.
extension AccessLogLine {
    /// Adds how long the stages took that the call has reached.
    mutating func writeStages(_ call: Call) {
        let stages = call.record.stages
        beginObject("stages")
        if stages.forwarded > .start { field("chain_ms", milliseconds: stages.forwarded - stages.arrived) }
        if stages.connected > .start { field("connect_ms", milliseconds: call.ledger.connecting) }
        if let times = call.upstreamLeg.attempt?.times() ?? call.record.ended.last { writeSteps(times.steps) }
        if stages.responded > .start { field("first_byte_ms", milliseconds: stages.responded - stages.connected) }
        endObject()
    }

    /// Adds the steps in which a connection was made, as far as it was waited for.
    private mutating func writeSteps(_ steps: ConnectionTimes.Steps) {
        if steps.dns > .zero { field("dns_ms", milliseconds: steps.dns) }
        if steps.tcp > .zero { field("tcp_ms", milliseconds: steps.tcp) }
        if steps.tls > .zero { field("tls_ms", milliseconds: steps.tls) }
        if steps.http2 > .zero { field("http2_ms", milliseconds: steps.http2) }
    }

    /// Adds each attempt of several, with times since the call arrived, or since the step before.
    mutating func writeAttempts(_ call: Call) {
        let start = call.record.stages.arrived
        beginArray("attempt_times")
        for attempt in call.record.ended {
            beginItem()
            if let address = attempt.address { field("address", text: Array("\(address)".utf8).span) }
            field("began_ms", milliseconds: attempt.began - start)
            if attempt.isHedge { field("hedge", true) }
            if let connected = attempt.connected { field("connect_ms", milliseconds: connected - attempt.began) }
            writeSteps(attempt.steps)
            if let connected = attempt.connected {
                if let responded = attempt.responded { field("first_byte_ms", milliseconds: responded - connected) }
            }
            if let end = attempt.end {
                field("ended_ms", milliseconds: end.time - start)
                field("result", text: end.result.label)
            }
            if let status = attempt.status { field("status", number: status) }
            if let code = attempt.code { field("code", text: code.name) }
            endObject()
        }
        endArray()
    }

    /// Adds where the time has gone, if that was long enough to tell.
    mutating func writeSpent(_ call: Call) {
        let spent = call.ledger.spent(at: call.record.stages.ended)
        guard !spent.isEmpty else { return }
        beginObject("spent")
        for (phase, time) in spent { field(phase.field, milliseconds: time) }
        endObject()
    }
}

extension TimeLedger.Phase {
    /// The field of a log line.
    fileprivate var field: StaticString {
        switch self {
        case .chain: "chain_ms"
        case .waiting: "waiting_ms"
        case .connecting: "connecting_ms"
        case .attempt: "attempt_ms"
        }
    }
}

internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// The events of a call as a tap shows them, a line each.
extension AccessLogLine {
    /// Adds the head of the request.
    mutating func describeRequest(_ call: Call) {
        field("event", text: "request" as StaticString)
        writeIdentity(call)
        writeRequest(call)
        field("target", string: call.shownTarget(call.request))
        writeFields(call.received, call)
    }

    /// Adds the head of the response.
    mutating func describeResponse(_ head: HTTPHead, _ call: Call) {
        begin("response", call)
        field("status", number: head.status)
        writeFields(head, call)
    }

    /// Adds the trailers of the response.
    mutating func describeTrailers(_ trailers: HTTPHead, _ call: Call) {
        begin("trailers", call)
        writeFields(trailers, call)
    }

    /// Adds a message, of which no more than so many bytes are shown.
    mutating func describe(_ shown: ShownMessage, _ number: Int, _ direction: Direction, _ call: Call, max: Int) {
        begin("message", call)
        let from: StaticString = direction == .request ? "request" : "response"
        field("direction", text: from)
        field("number", number: number)
        field("bytes", number: shown.count)
        var isCut = shown.isCut
        switch shown.content {
        case .json(let json) where json.count <= max: field("json") { $0.append(json) }
        case .json(let text), .text(let text):
            isCut = isCut || text.count > max
            field("text", text: text.span.extracting(0..<text.prefixCount(max)))
        case .binary(let bytes):
            isCut = isCut || bytes.count > max
            field("base64", base64: bytes.span.extracting(0..<min(bytes.count, max)))
        case .withheld:
            isCut = false
            field("withheld", true)
        }
        if isCut { field("cut", true) }
    }

    /// Adds how the call has ended.
    mutating func describeEnd(_ call: Call) {
        begin("end", call)
        writeOutcome(call)
        writeSpent(call)
        if call.record.attempts > 1 { writeAttempts(call) }
        writeTrace(call)
    }

    private mutating func begin(_ event: StaticString, _ call: Call) {
        field("event", text: event)
        field("at_ms", milliseconds: call.now - call.startTime)
    }

    /// Adds the fields of a head: those of one name are joined.
    private mutating func writeFields(_ head: HTTPHead, _ call: Call) {
        let mask = CallMask(call)
        beginObject("headers")
        var names: Set<[UInt8]> = []
        for index in 0..<head.count {
            let name = head.name(at: index).array
            guard names.insert(name).inserted else { continue }
            guard !call.hides(name.span) else {
                field(named: name.span, text: MaskedText.mask)
                continue
            }
            let values = (index..<head.count).filter { head.name(at: $0).equals(name) }
                .map { mask.value(head.value(at: $0), ofField: name.span) }
            field(named: name.span, text: Array(values.joined(separator: Array(", ".utf8))).span)
        }
        endObject()
    }
}

extension [UInt8] {
    /// How many of at most `max` bytes end with a whole character.
    fileprivate func prefixCount(_ max: Int) -> Int {
        guard count > max else { return count }
        var end = max
        while end > 0, self[end] & 0xc0 == 0x80 { end -= 1 }
        return end
    }
}

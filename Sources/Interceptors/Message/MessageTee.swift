internal import Bytes
internal import Configuration
internal import Documents
internal import Protocols
internal import Proxy
internal import Telemetry

/// Writes messages where people can read them, one line of JSON each.
final class MessageTee {
    /// Where messages go, and how much of them.
    struct Plan: Sendable {
        fileprivate let destination: LogDestination
        fileprivate let direction: StaticString
        fileprivate let limit: Int

        /// Takes the destination that the option `tee` names; `tee_limit` says how much of a message is written.
        init(_ section: Section, direction: StaticString, _ context: BuildContext) {
            destination = LogDestination("tee", of: section, context)
            limit = section.size("tee_limit")
            self.direction = direction
        }
    }

    private let sink: LineSink
    private let direction: StaticString
    private let limit: Int

    /// Makes the tee of a worker.
    init(_ plan: Plan, on worker: WorkerServices) {
        sink = LineSink(plan.destination, on: worker)
        (direction, limit) = (plan.direction, plan.limit)
    }

    /// Writes a message, without what is to be kept out: in Protobuf as its ProtoJSON, if its type is known.
    func write(_ payload: Span<UInt8>, _ message: Message, _ call: Call) {
        let redactions = call.redactions
        sink.line(about: call) { line in
            line.field("direction", text: direction)
            line.field("number", number: message.number)
            line.field("bytes", number: payload.count)
            guard redactions.hasPointers || call.isTypedProtobuf else { return Self.write(payload, limit, to: &line) }
            if let shown = message.json(payload, call).map({ redactions.masked($0).bytes }) {
                Self.write(shown.span, limit, to: &line)
            } else if redactions.hasPointers {
                line.null("payload")
            } else {
                Self.write(payload, limit, to: &line)
            }
        }
    }

    /// Adds the payload: as text, if it is some, else in base64.
    static func write(_ payload: Span<UInt8>, _ limit: Int, to line: inout AccessLogLine) {
        let isText = payload.isUTF8
        let end = isText ? payload.boundary(atMost: limit) : min(limit, payload.count)
        let shown = payload.extracting(0..<end)
        if isText { line.field("payload", text: shown) } else { line.field("payload_base64", base64: shown) }
        if end < payload.count { line.field("truncated", true) }
    }
}

extension Call {
    /// Whether messages are in Protobuf, of types that Martlet knows.
    fileprivate var isTypedProtobuf: Bool { codec == .proto && hasMessageTypes }
}

extension Span<UInt8> {
    /// Whether the bytes are text.
    fileprivate var isUTF8: Bool {
        (try? UTF8Span(validating: self)) != nil
    }

    /// The last place at or before `limit` where no character is cut in two.
    fileprivate func boundary(atMost limit: Int) -> Int {
        guard limit < count else { return count }
        var end = limit
        while end > 0, self[end] & 0xc0 == 0x80 { end -= 1 }
        return end
    }
}

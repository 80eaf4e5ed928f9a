internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import HTTP
internal import Protocols
internal import Proxy
internal import Telemetry
internal import Time

/// Writes one call of a mock down in its journal, without what is to be kept out.
struct MockRecorder {
    private let memory: MockMemory
    private let number: Int
    private let start: Instant
    private let call: Call
    private var redactions: Redactions { call.redactions }
    /// The longest message that is written.
    let maxMessage: Int

    /// Begins to write; none if the mock keeps no journal.
    init?(_ context: MockContext, _ memory: MockMemory, limit: Int) {
        guard limit > 0 else { return nil }
        self.memory = memory
        start = context.call.now
        call = context.call
        maxMessage = MockJournal.maxMessage(of: limit)
        let request = Self.request(context.call)
        number = memory.begin(MockJournal.Entry(at: context.worker.loop.clock.wall, request: request))
    }

    private static func request(_ call: Call) -> [UInt8] {
        let queue = ByteQueue()
        var json = JSONWriter(to: queue)
        let (request, mask) = (call.request, CallMask(call))
        json.field("call", string: call.shownName)
        json.field("protocol", text: call.protocolName)
        json.beginObject("headers")
        for index in 0..<request.count where !isRepeated(index, in: request) {
            append(index, of: request, mask, to: &json)
        }
        json.endObject()
        json.end()
        // The line feed at the end is not part of the object.
        return Array(queue.readable.array.dropLast())
    }

    /// Whether a field before it has the same name.
    private static func isRepeated(_ index: Int, in head: HTTPHead) -> Bool {
        (0..<index).contains { head.name(at: $0).equals(head.name(at: index)) }
    }

    /// Adds a header with all its values.
    private static func append(_ index: Int, of head: HTTPHead, _ mask: CallMask, to json: inout JSONWriter) {
        let name = head.name(at: index)
        let values = (index..<head.count).filter { head.name(at: $0).equals(name) }
            .map { mask.value(head.value(at: $0), ofField: name) }
        json.field(named: name, text: Array(values.joined(separator: Array(", ".utf8))).span)
    }

    /// The rule of the call is known.
    func chosen(_ rule: MockRule) { memory.note(number) { $0.rule = rule.place } }

    /// There is no rule for the call.
    func unmatched(_ lack: String) { memory.note(number) { $0.lack = lack } }

    /// There is none, and the call goes on to the upstream.
    func goesOn(_ lack: String) { memory.note(number) { ($0.lack, $0.goesOn) = (lack, true) } }

    /// A message of the request has come.
    func received(_ context: MockContext) {
        let message = MockJournal.Message(
            time: context.call.now - start,
            payload: payload(call.maskedForm(context.payload) ?? context.payload, context.message)
        )
        memory.note(number) { $0.receive(message) }
    }

    /// A message of the response has been sent.
    func sent(_ payload: [UInt8], _ context: MockContext) {
        let value =
            context.call.rpcProtocol == .http
            ? try? context.call.parsed(payload.span) : context.call.json(payload.span, .response)
        let message = MockJournal.Message(time: context.call.now - start, payload: self.payload(payload, value))
        memory.note(number) { $0.send(message) }
    }

    /// A message of a call has passed that the upstream serves.
    func passed(_ payload: [UInt8], _ value: JSONValue?, _ direction: Direction, at now: Instant) {
        let message = MockJournal.Message(time: now - start, payload: self.payload(payload, value))
        memory.note(number) { if direction == .request { $0.receive(message) } else { $0.send(message) } }
    }

    /// A body of plain HTTP has, of which nothing is there if it is too long.
    func passed(
        plain bytes: [UInt8],
        count: Int,
        _ direction: Direction,
        isError: Bool = false,
        form: FormBody?,
        at now: Instant
    ) {
        guard bytes.count == count else {
            let message = MockJournal.Message(time: now - start, payload: .cut(count))
            return memory.note(number) { if direction == .request { $0.receive(message) } else { $0.send(message) } }
        }
        let plain = form?.masked(bytes) ?? bytes
        let shown = isError ? CallMask(call).error(plain) : plain
        passed(shown, try? call.parsed(shown.span), direction, at: now)
    }

    /// The request is complete.
    func closed(at now: Instant) { memory.note(number) { $0.closed = now - start } }

    /// What of the live response is not as recorded.
    func differs(_ differences: [String]) { memory.note(number) { $0.differences = differences } }

    /// The call is over.
    func ended(_ end: MockJournal.End, at now: Instant) {
        let end = shown(end)
        memory.note(number) { if $0.end == nil { $0.end = (now - start, end) } }
    }

    /// The end without credentials in its text.
    private func shown(_ end: MockJournal.End) -> MockJournal.End {
        switch end {
        case .status(let code, let text) where !text.isEmpty: .status(code, CallMask(call).message(text))
        case .status, .response, .canceled, .failed: end
        }
    }

    private func payload(_ bytes: [UInt8], _ value: JSONValue?) -> MockJournal.Payload {
        if redactions.hasPointers {
            guard let value else { return bytes.isEmpty ? .bytes([]) : .withheld(bytes.count) }
            let shown = redactions.masked(value).bytes
            return shown.count > maxMessage ? .cut(bytes.count) : .json(shown)
        }
        guard bytes.count <= maxMessage else { return .cut(bytes.count) }
        return value.map { .json($0.bytes) } ?? .bytes(bytes)
    }
}

internal import Bytes
internal import Configuration
internal import Documents
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC

/// How calls are written on a tape, without what is to be kept out.
struct RecordForm: Sendable {
    /// A part of a document.
    struct Text {
        var yaml: [UInt8]
        /// What lacks, so that the call cannot be played back.
        var lack: String?
        /// Whether that is because of a limit.
        var isCut = false
        /// About how many values a reader makes of it.
        var nodes = 4
    }

    /// The deepest JSON that is written as such: a reader has a bound.
    private static let maxDepth = 48
    /// The most values in one message that is written as such.
    private static let maxNodes = 100_000

    let maxMessage: Int
    let maxDocument: Int
    let scrub: Scrub

    init(_ section: Section) {
        maxMessage = section.size("messages")
        maxDocument = section.size("document")
        scrub = Scrub("scrub", of: section)
    }

    // MARK: Messages

    /// Whether a message is read as the JSON of its type, and not as it is written.
    func readsJSON(of message: Message, _ call: Call) -> Bool {
        switch call.codec {
        case .proto: call.hasMessageTypes
        case .json: call.redactions.hasPointers || message.direction == .request || !call.hasMessageTypes
        case .other: call.redactions.hasPointers
        }
    }

    /// A message.
    func message(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Text {
        guard payload.count <= maxMessage else { return cut(payload.count) }
        let isRequest = message.direction == .request
        var value: JSONValue?
        if readsJSON(of: message, call) {
            value = message.json(payload, call)
        } else if call.codec == .json {
            value = try? call.parsed(payload)
        }
        if value == nil, call.codec == .json, !call.redactions.hasPointers { value = try? call.parsed(payload) }
        var text = written(payload, value, isRequest: isRequest, isProto: call.codec == .proto, call)
        guard let value, text.lack == nil, call.codec == .proto, !call.redactions.hasPointers, scrub.isEmpty
        else { return text }
        let json = value.bytes
        if let again = try? call.message(json: json.span, message.direction), payload.equals(again) { return text }
        // What its type does not know is in the bytes alone.
        text.yaml.removeLast(2)
        text.yaml += Array(", base64: ".utf8) + Self.base64(payload) + Array(" }".utf8)
        return text
    }

    /// A body of plain HTTP, as a message.
    func body(_ body: [UInt8], count: Int, isJSON: Bool, _ call: Call) -> Text {
        guard body.count == count else { return cut(count) }
        let value = isJSON || call.redactions.hasPointers ? try? call.parsed(body.span) : nil
        let shown = value == nil ? call.maskedForm(body) ?? body : body
        return written(shown.span, value, isRequest: true, isProto: false, call)
    }

    private func cut(_ count: Int) -> Text {
        Text(yaml: Array("{ cut: \(count) }".utf8), lack: "a message of \(count) bytes", isCut: true)
    }

    private func withheld(_ count: Int) -> Text {
        Text(yaml: Array("{ withheld: \(count) }".utf8), lack: "a message that may not be shown")
    }

    private func written(
        _ payload: Span<UInt8>,
        _ value: JSONValue?,
        isRequest: Bool,
        isProto: Bool,
        _ call: Call
    ) -> Text {
        let queue = ByteQueue()
        if let value {
            guard let shown = scrub.value(call.redactions.masked(value)) else { return withheld(payload.count) }
            if let size = shown.sizeInYAML, size.depth <= Self.maxDepth, size.nodes <= Self.maxNodes {
                queue.append(isRequest ? "{ json: { \"\": { equals: " : "{ json: ")
                queue.append(yaml: shown) { isRequest ? $0 : Self.template($0) }
                queue.append(isRequest ? " } } }" : " }")
                return Text(yaml: queue.readable.array, nodes: 8 + size.nodes)
            }
        }
        guard !call.redactions.hasPointers || payload.isEmpty else { return withheld(payload.count) }
        if !isProto, let text = Self.text(payload) {
            guard let shown = scrub.text(text) else { return withheld(payload.count) }
            queue.append("{ text: ")
            queue.append(quotedYAML: isRequest ? shown : Self.template(shown))
            queue.append(" }")
            return Text(yaml: queue.readable.array)
        }
        guard !scrub.finds(in: payload) else { return withheld(payload.count) }
        return Text(yaml: Array("{ base64: ".utf8) + Self.base64(payload) + Array(" }".utf8))
    }

    /// A response of plain HTTP.
    ///
    /// A body that stays compressed cannot be looked into.
    func respond(_ head: RecordedHead, _ body: [UInt8], count: Int, isCompressed: Bool, _ call: Call) -> Text {
        let isJSON = head.isJSON
        let start = Array("{ status: \(head.status), headers: ".utf8) + head.headers
        let end = Array(" }".utf8)
        guard body.count == count else {
            return Text(yaml: start + end, lack: "a body of \(count) bytes", isCut: true)
        }
        let hidden = Text(yaml: start + end, lack: "a body that may not be shown")
        let isError = call.isError(status: head.status)
        if isCompressed, isError || call.redactions.hasPointers || !scrub.isEmpty || head.form != nil { return hidden }
        var shown = head.form?.masked(body, isDecompressed: true) ?? body
        if isError { shown = CallMask(call).error(shown) }
        if call.redactions.hasPointers, !body.isEmpty {
            guard let value = try? call.parsed(shown.span) else { return hidden }
            let masked = call.redactions.masked(value)
            if masked != value { shown = masked.bytes }
        }
        if isJSON, !scrub.isEmpty, let value = try? call.parsed(shown.span) {
            guard let scrubbed = scrub.value(value) else { return hidden }
            if scrubbed != value { shown = scrubbed.bytes }
        }
        guard let text = Self.text(shown.span) else {
            guard !scrub.finds(in: shown.span) else { return hidden }
            return Text(yaml: start + Array(", body_base64: ".utf8) + Self.base64(shown.span) + end)
        }
        guard let scrubbed = scrub.text(text) else { return hidden }
        let queue = ByteQueue()
        queue.append(quotedYAML: scrubbed)
        return Text(yaml: start + Array(", body: ".utf8) + queue.readable.array + end)
    }

    // MARK: Heads and ends

    /// Fields of a head, as a mapping: those of one name are joined.
    ///
    /// - Parameters:
    ///   - head: the head.
    ///   - isTemplate: whether the values are templates for a reader.
    ///   - call: the call, which says what is to be kept out.
    ///   - isShown: whether a field is written at all.
    /// - Returns: the mapping in YAML, on one line.
    func fields(_ head: HTTPHead, isTemplate: Bool, _ call: Call, _ isShown: (String) -> Bool) -> [UInt8] {
        let mask = CallMask(call)
        var values: [(name: String, value: String)] = []
        for index in 0..<head.count {
            let name = head.name(at: index).string
            guard isShown(name), name.utf8.count < 200 else { continue }
            let shown = mask.value(head.value(at: index), ofField: head.name(at: index))
            var value = scrub.text(String(decoding: shown, as: UTF8.self)) ?? "\(Redactions.mask)"
            value = value.replacing("\0", with: " ")
            if let known = values.firstIndex(where: { $0.name == name }) {
                values[known].value += ", \(value)"
            } else {
                values.append((name, value))
            }
        }
        guard !values.isEmpty else { return Array("{}".utf8) }
        let queue = ByteQueue()
        queue.append("{ ")
        for (index, (name, value)) in values.enumerated() {
            if index > 0 { queue.append(", ") }
            queue.append(yaml: name)
            queue.append(": ")
            queue.append(quotedYAML: isTemplate ? Self.template(value) : value)
        }
        queue.append(" }")
        return queue.readable.array
    }

    /// How a response ends.
    func end(_ error: RPCError?, trailers: [UInt8], _ call: Call) -> Text {
        var parts: [[UInt8]] = []
        var lack: String?
        if let error {
            let mask = CallMask(call)
            parts.append(Array("code: \(error.code.name)".utf8))
            if !error.message.isEmpty {
                let queue = ByteQueue()
                queue.append("message: ")
                let shown = scrub.text(mask.message(error.message)) ?? "\(Redactions.mask)"
                queue.append(quotedYAML: Self.template(shown.replacing("\0", with: " ")))
                parts.append(queue.readable.array)
            }
            if !error.details.isEmpty {
                let isHidden =
                    call.redactions.hasPointers
                    || error.details.contains {
                        scrub.finds(in: $0.value.span) || mask.finds(in: $0.value)
                            || mask.finds(in: Array($0.type.utf8))
                    }
                let isLong = error.details.reduce(0) { $0 + $1.value.count } > maxMessage
                if isHidden || isLong {
                    lack = isHidden ? "details that may not be shown" : "details that are too long"
                } else {
                    parts.append(Array("details: [ ".utf8) + details(error) + Array(" ]".utf8))
                }
            }
        }
        if !trailers.span.equals("{}") { parts.append(Array("trailers: ".utf8) + trailers) }
        guard !parts.isEmpty else { return Text(yaml: Array("{}".utf8)) }
        return Text(
            yaml: Array("{ ".utf8) + Array(parts.joined(separator: Array(", ".utf8))) + Array(" }".utf8),
            lack: lack
        )
    }

    private func details(_ error: RPCError) -> [UInt8] {
        let queue = ByteQueue()
        for (index, detail) in error.details.enumerated() {
            queue.append(index == 0 ? "{ type: " : ", { type: ")
            queue.append(yaml: detail.type)
            queue.append(", base64: ")
            queue.append(Self.base64(detail.value.span))
            queue.append(" }")
        }
        return queue.readable.array
    }

    // MARK: Texts

    /// A text that a mock reads as a template, so that it sends just this.
    static func template(_ text: String) -> String {
        text.replacing("{", with: "{{").replacing("}", with: "}}")
    }

    /// Bytes in base64, in quotes.
    private static func base64(_ bytes: Span<UInt8>) -> [UInt8] {
        let queue = ByteQueue()
        queue.append("\"")
        queue.append(base64: bytes, padded: true)
        queue.append("\"")
        return queue.readable.array
    }

    /// Bytes as text; none if they are no text that YAML can have.
    private static func text(_ bytes: Span<UInt8>) -> String? {
        guard (try? UTF8Span(validating: bytes)) != nil else { return nil }
        let text = bytes.string
        return text.utf8.contains(0) ? nil : text
    }
}

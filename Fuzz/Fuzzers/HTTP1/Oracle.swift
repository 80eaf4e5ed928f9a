internal import Bytes
private import CLlhttp

/// What llhttp reads, in strict mode.
final class Oracle {
    private(set) var messages: [HTTP1Message] = []
    /// The name of what llhttp did not like; none if it liked everything.
    private(set) var error: String?
    /// Whether what it did not like stands in a trailer section.
    private(set) var isInTrailers = false
    /// Whether it stands in an extension of a chunk, behind its size and a `;`.
    private(set) var isInExtension = false
    private var name: [UInt8] = []
    private var value: [UInt8] = []
    private var method: [UInt8] = []
    private var target: [UInt8] = []
    private var reason: [UInt8] = []
    private var body: [UInt8] = []
    private var fields: [HTTP1Message.Field] = []
    private var hasHead = false

    /// What is read.
    enum Kind {
        case requests, response, responseToHead
    }

    /// Reads requests, or one response and the interim ones before it.
    init(_ kind: Kind, _ input: Span<UInt8>) {
        let kind: oracle_kind =
            switch kind {
            case .requests: ORACLE_REQUESTS
            case .response: ORACLE_RESPONSE
            case .responseToHead: ORACLE_RESPONSE_TO_HEAD
            }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        var errorAt = 0
        let error = unsafe input.withUnsafeBytes { raw in
            unsafe oracle_read(kind, raw.baseAddress?.assumingMemoryBound(to: CChar.self), raw.count, &errorAt, context)
            {
                context,
                event,
                bytes,
                count,
                head in
                let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
                let oracle = unsafe Unmanaged<Oracle>.fromOpaque(context!).takeUnretainedValue()
                if let head = unsafe head?.pointee {
                    oracle.endHead(head)
                } else {
                    unsafe oracle.receive(event, Array(bytes))
                }
            }
        }
        isInExtension = Self.isExtension(input, at: min(errorAt, input.count))
        self.error = unsafe error.map { unsafe String(cString: $0) }
        if hasHead { messages[messages.count - 1].body = String(latin1: body) }
    }

    private func receive(_ event: oracle_event, _ bytes: [UInt8]) {
        switch event {
        case ORACLE_BEGIN: begin()
        case ORACLE_METHOD: method += bytes
        case ORACLE_TARGET: target += bytes
        case ORACLE_REASON: reason += bytes
        case ORACLE_NAME:
            name += bytes
            isInTrailers = hasHead
        case ORACLE_VALUE: value += bytes
        case ORACLE_VALUE_END: endField()
        case ORACLE_BODY: body += bytes
        case ORACLE_END: end()
        default: break
        }
    }

    private func begin() {
        (method, target, reason, name, value, body) = ([], [], [], [], [], [])
        fields = []
        hasHead = false
        isInTrailers = false
    }

    private func endField() {
        let field = HTTP1Message.Field(
            name: String(latin1: name).smallASCII,
            value: String(latin1: value).withoutBlanks
        )
        (name, value) = ([], [])
        if hasHead {
            messages[messages.count - 1].trailers.append(field)
        } else {
            fields.append(field)
        }
    }

    private func endHead(_ head: oracle_head) {
        var message = HTTP1Message()
        message.method = String(latin1: method)
        message.target = String(latin1: target)
        message.reason = String(latin1: reason)
        message.status = Int(head.status)
        message.fields = fields
        message.length = head.has_length != 0 ? Int(clamping: head.length) : nil
        message.persists = head.persists != 0
        messages.append(message)
        hasHead = true
    }

    private func end() {
        messages[messages.count - 1].isWhole = true
        messages[messages.count - 1].body = String(latin1: body)
    }

    private static func isExtension(_ input: Span<UInt8>, at position: Int) -> Bool {
        let before = input.extracting(0..<position).array.reversed().prefix { $0 != 0x0a }
        let digits = Array("0123456789abcdefABCDEF".utf8)
        guard let semicolon = before.lastIndex(of: UInt8(ascii: ";")) else { return false }
        return before[before.index(after: semicolon)...].allSatisfy(digits.contains)
    }
}

internal import Bytes
internal import Compressors
internal import Documents
internal import Protocols
internal import RPC

/// The request body of a call with redacted message parts, kept because an error may repeat them.
///
/// Messages of interceptors that replace it are kept, too. Values are read when a text is written. Belongs to the worker's thread.
final class RedactedBody {
    /// The values that are masked, as far as they are known.
    struct Values {
        private(set) var secrets = KnownSecrets()
        private var hasAll = true

        /// Whether every message could be read, and every value is among them.
        var isComplete: Bool { hasAll && secrets.isComplete }

        /// Adds the values of a message; `nil` is one that cannot be read.
        mutating func add(_ message: JSONValue?, _ redactions: Redactions) {
            if let message { redactions.collect(from: message, into: &secrets) } else { hasAll = false }
        }
    }

    /// The maximum number of bytes that are kept of a body.
    private static let maxBytes = 64 * 1024
    /// The bytes that an array needs besides its elements, so that many empty messages count.
    private static let overhead = 32
    /// The maximum number of bytes that all messages have without compression.
    private static let maxPlain = 1 << 20

    private var body: [UInt8] = []
    /// The messages that interceptors have made, without compression.
    private var made: [[UInt8]] = []
    /// The number of bytes that are kept.
    private var held = 0
    /// Whether all bytes are kept; if not, none are.
    private var isWhole = true
    /// The values that were read, until more bytes are received.
    private var values: Values?
    private let budget: CopyBudget

    init(_ budget: CopyBudget) {
        self.budget = budget
    }

    deinit { budget.add(-held) }

    /// Adds bytes that have been received.
    func add(_ bytes: Span<UInt8>) {
        if hold(bytes.count) { body.append(copy: bytes) }
    }

    /// Adds a message that an interceptor sends in place of another, or after it.
    func add(made message: Span<UInt8>) {
        if hold(message.count + Self.overhead) { made.append(message.array) }
    }

    /// Reserves room for more bytes; without room, releases everything, since an incomplete body is useless.
    private func hold(_ count: Int) -> Bool {
        values = nil
        guard isWhole else { return false }
        isWhole = held + count <= budget.room(Self.maxBytes)
        let change = isWhole ? count : -held
        held += change
        budget.add(change)
        if !isWhole { (body, made) = ([], []) }
        return isWhole
    }

    /// Returns the values that are masked in the messages that have been received or made.
    func values(of call: Call) -> Values {
        if let values { return values }
        let new = read(call)
        values = new
        return new
    }

    private func read(_ call: Call) -> Values {
        var reader = Reader(call: call)
        var finder = MessageFinder(call.rpcProtocol, .request)
        let body = body
        finder.add(body.span, max: Self.maxBytes) { reader.read($0) }
        finder.end(isRPC: false) { reader.read($0) }
        for message in made { reader.read(plain: message) }
        if !isWhole || !finder.isBetweenMessages { reader.missed() }
        return reader.values
    }

    /// Reads messages one after another.
    private struct Reader {
        let call: Call
        private(set) var values = Values()
        private var room = RedactedBody.maxPlain

        init(call: Call) { self.call = call }

        mutating func read(_ message: MessageFinder.Found) {
            guard message.count > 0 else { return }
            guard room > 0 else { return missed() }
            let bytes = ShownMessage.payload(of: message, call.requestCompression, call, limit: room)
            if let bytes { read(plain: bytes) } else { missed() }
        }

        /// Reads a message without compression.
        mutating func read(plain bytes: [UInt8]) {
            guard !bytes.isEmpty else { return }
            room -= bytes.count
            // A message that does not fit its type may have these parts under other names.
            values.add(room > 0 ? call.json(bytes.span, .request) : nil, call.redactions)
        }

        /// Notes that a message cannot be read.
        mutating func missed() { values.add(nil, call.redactions) }
    }
}

extension Call {
    /// Begins to keep the body of the request, if an error message may repeat what is masked in it.
    func keepRedactedBody() {
        guard redactions.hasPointers, !flows.request.hasArrived else { return }
        redactedBody = RedactedBody(worker.redactedBytes)
    }

    /// The values that are masked in the messages of the request, as far as they are known.
    var redactedValues: RedactedBody.Values {
        var values = redactedBody?.values(of: self) ?? RedactedBody.Values()
        if redactions.hasPointers, let message = queryMessage {
            let payload = ShownMessage.payload(of: message, requestCompression, self)
            values.add(payload.flatMap { json($0.span, .request) }, redactions)
        }
        return values
    }
}

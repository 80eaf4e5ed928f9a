internal import Bytes
internal import Compressors
internal import Protocols
internal import RPC

/// The body of a request of whose messages `redact` masks parts: an error message may repeat them.
///
/// The body is only kept; its messages are read when a text is written. Belongs to the worker's thread.
final class RedactedBody {
    /// The values that are masked, as far as they are known.
    struct Values {
        var secrets = KnownSecrets()
        /// Whether every message could be read.
        var isComplete = true
    }

    /// The maximum number of bytes that are kept of a body.
    private static let maxBytes = 64 * 1024
    /// The maximum number of bytes that all messages have without compression.
    private static let maxPlain = 1 << 20

    private var body = MessageFinder.Found()
    /// The values that were read, until more of the body comes.
    private var values: Values?
    private let budget: CopyBudget

    init(_ budget: CopyBudget) {
        self.budget = budget
    }

    deinit { budget.add(-body.bytes.count) }

    /// Adds bytes that have come.
    func add(_ bytes: Span<UInt8>) {
        let before = body.bytes.count
        body.add(bytes, max: budget.room(Self.maxBytes))
        budget.add(body.bytes.count - before)
        values = nil
    }

    /// Returns the values that are masked in the messages that have come.
    func values(of call: Call) -> Values {
        if let values { return values }
        let new = read(call)
        values = new
        return new
    }

    private func read(_ call: Call) -> Values {
        var reader = Reader(call: call)
        var finder = MessageFinder(call.rpcProtocol, .request)
        finder.add(body.bytes.span, max: Self.maxBytes) { reader.read($0) }
        finder.end(isRPC: false) { reader.read($0) }
        if !body.isWhole || !finder.isBetweenMessages { reader.values.isComplete = false }
        return reader.values
    }

    /// Reads messages one after another.
    private struct Reader {
        let call: Call
        var values = Values()
        private var room = RedactedBody.maxPlain

        init(call: Call) { self.call = call }

        mutating func read(_ message: MessageFinder.Found) {
            guard message.count > 0 else { return }
            let bytes = ShownMessage.payload(of: message, call.requestCompression, call, limit: room)
            room -= bytes?.count ?? 0
            // One that is not of its type may have the same parts by other names.
            guard let bytes, room > 0, let value = call.json(bytes.span, .request) else {
                values.isComplete = false
                return
            }
            call.redactions.collect(from: value, into: &values.secrets)
        }
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
            let value = ShownMessage.payload(of: message, requestCompression, self).flatMap { json($0.span, .request) }
            if let value { redactions.collect(from: value, into: &values.secrets) } else { values.isComplete = false }
        }
        return values
    }
}

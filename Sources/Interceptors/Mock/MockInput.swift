internal import Bytes
internal import Documents
internal import Protocols
internal import Proxy

/// A message of a request, and what it is in JSON as long as somebody reads it: that may take many times its room.
///
/// Belongs to the worker's thread.
final class MockInput {
    /// The message as it came.
    let payload: [UInt8]
    /// What is wrong with it, if it is not of its type.
    let problem: MessageFlaw?
    private let call: Call
    private var parsed: JSONValue??
    /// The number of bytes that the values hold, or `nil` until it is needed.
    private var size: Int?

    /// Reads a message.
    ///
    /// - Parameters:
    ///   - payload: The message.
    ///   - message: What the chain has of it, if it passes there.
    ///   - call: The call.
    init(_ payload: Span<UInt8>, _ message: Message?, of call: Call) {
        self.payload = payload.array
        self.call = call
        var problem: MessageFlaw?
        if let message {
            parsed = .some(message.json(payload, call))
            problem = message.flaw
        } else {
            parsed = .some(Self.read(payload, call, &problem))
        }
        self.problem = problem
    }

    private static func read(_ payload: Span<UInt8>, _ call: Call, _ problem: inout MessageFlaw?) -> JSONValue? {
        call.rpcProtocol == .http ? call.parsed(payload, &problem) : call.json(payload, .request, &problem)
    }

    /// The message in JSON; none if it is something else.
    var value: JSONValue? {
        if let parsed { return parsed }
        var problem: MessageFlaw?
        let payload = payload
        let read = Self.read(payload.span, call, &problem)
        (parsed, size) = (.some(read), nil)
        return read
    }

    /// Nobody reads it for now.
    func rest() { (parsed, size) = (nil, nil) }

    /// The approximate number of bytes that the message and its values hold.
    var heldBytes: Int {
        let values = size ?? (parsed ?? nil)?.heldBytes ?? 0
        size = values
        return payload.count + values
    }
}

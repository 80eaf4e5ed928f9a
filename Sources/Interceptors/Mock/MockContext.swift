internal import Bytes
internal import Documents
internal import Protocols
internal import Proxy

/// What the rules and texts of a mock go by: a call, and the message of it that came last.
struct MockContext {
    /// How much of a request is known.
    enum Known: Int, Comparable {
        case head, first, all

        static func < (less: Known, more: Known) -> Bool { less.rawValue < more.rawValue }
    }

    /// The most bytes of messages that are kept for a rule that asks for all of them.
    private static let maxKept = 4 << 20

    let call: Call
    let worker: WorkerServices
    private(set) var known = Known.head
    /// The message of the request that came last, if it is JSON.
    var message: JSONValue?
    /// The same as it came.
    var payload: [UInt8] = []
    /// Its number, from 1.
    var number = 0
    /// The first message, which rules are chosen by.
    private(set) var first: (value: JSONValue?, payload: [UInt8]) = (nil, [])
    /// All messages, if a rule may ask for them; none if they are too long.
    private(set) var messages: [JSONValue]?
    private var kept = 0
    /// Whether a rule may ask for all messages, so that all are wanted.
    let keepsAll: Bool
    /// The parts of the path that the rule names.
    var captures: [String: [UInt8]] = [:]

    init(_ call: Call, on worker: WorkerServices, keepsAll: Bool = false) {
        (self.call, self.worker, self.keepsAll) = (call, worker, keepsAll)
        if keepsAll { messages = [] }
    }

    /// Whether the message is the ProtoJSON of a known type.
    var isProtoJSON: Bool { call.hasMessageTypes }

    /// A message of the request has come.
    mutating func received(_ payload: Span<UInt8>) {
        number += 1
        known = max(known, .first)
        self.payload = payload.array
        message = call.rpcProtocol == .http ? try? JSON.parse(payload) : call.json(payload, .request)
        if number == 1 { first = (message, self.payload) }
        kept += payload.count
        if kept > Self.maxKept { messages = nil }
        messages?.append(message ?? .null)
    }

    /// The request is complete.
    mutating func ended() { known = .all }

    /// The value in a place of the message that came last, if there is one.
    func value(at pointer: JSONPointer) -> JSONValue? { value(in: message, at: pointer) }

    /// The value in a place of the first message, if there is one.
    func firstValue(at pointer: JSONPointer) -> JSONValue? { value(in: first.value, at: pointer) }

    private func value(in message: JSONValue?, at pointer: JSONPointer) -> JSONValue? {
        isProtoJSON ? message?.valueOfProtoJSON(at: pointer) : message?.value(at: pointer)
    }
}

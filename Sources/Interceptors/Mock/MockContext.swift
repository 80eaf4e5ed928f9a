internal import Bytes
internal import Documents
internal import Protocols
internal import Proxy
internal import RPC
internal import Telemetry

/// What the rules and texts of a mock go by: a call, and the message of it that came last.
struct MockContext {
    /// How much of a request is known.
    enum Known: Int, Comparable {
        case head, first, all

        static func < (less: Known, more: Known) -> Bool { less.rawValue < more.rawValue }
    }

    let call: Call
    /// The parameters of the URL.
    let query: MockQuery
    let worker: WorkerServices
    private(set) var known = Known.head
    /// The message of the request that came last.
    private var last: MockInput?
    /// Its number, from 1.
    private(set) var number = 0
    /// The first message, as long as no rule has been chosen by it.
    private var first: MockInput?
    /// All messages, if a rule may ask for them; none if they are too long.
    private(set) var messages: [MockInput]?
    private var kept = 0
    /// The numbers of the messages that texts of the mock name.
    private let numbers: Set<Int>
    /// The received messages with these numbers, as far as they have at most `limit` bytes together.
    private var numbered: [Int: MockInput] = [:]
    private var numberedBytes = 0
    /// The maximum number of bytes of messages that are kept for texts, and for a rule that asks for all of them.
    private let limit: Int
    private var isOverLimit = false
    /// Whether a rule may ask for all messages, so that all are wanted.
    let keepsAll: Bool
    /// The parts of the path that the rule names.
    var captures: [String: [UInt8]] = [:]

    init(_ call: Call, of mock: Mock, on worker: WorkerServices, keepsAll: Bool) {
        (self.call, self.worker, self.keepsAll) = (call, worker, keepsAll)
        query = MockQuery(of: call)
        (numbers, limit) = (mock.messageNumbers, mock.heldMessagesLimit)
        if keepsAll { messages = [] }
    }

    /// The message of the request that came last, if it is JSON.
    var message: JSONValue? { last?.value }
    /// The same as it came.
    var payload: [UInt8] { last?.payload ?? [] }
    /// What is wrong with it, if it is not of its type.
    var problem: MessageFlaw? { last?.problem }
    /// The first message, if it is JSON; good until a rule has been chosen.
    var firstMessage: JSONValue? { first?.value }
    /// How many bytes of messages are held.
    var heldBytes: Int {
        let others = first === last ? 0 : first?.heldBytes ?? 0
        return (last?.heldBytes ?? 0) + others + (messages == nil ? 0 : kept) + numberedBytes
    }

    /// A message of the request has come.
    ///
    /// - Parameters:
    ///   - payload: The message.
    ///   - message: What the chain has of it, if it passes there.
    mutating func received(_ payload: Span<UInt8>, _ message: Message? = nil) {
        number += 1
        known = max(known, .first)
        let input = MockInput(payload, message, of: call)
        // Among earlier messages, only the first one decides on a rule; the others are parsed again if necessary.
        if last !== first { last?.rest() }
        last = input
        if number == 1 { first = input }
        // An empty one takes room, too.
        let size = payload.count + 64
        if numbers.contains(number) { keep(input, size) }
        guard messages != nil else { return }
        kept += size
        if kept > limit {
            messages = nil
            noteLimit()
        }
        messages?.append(input)
    }

    /// Keeps a message that texts name, if there is room.
    private mutating func keep(_ input: MockInput, _ size: Int) {
        guard numberedBytes + size <= limit else { return noteLimit() }
        numbered[number] = input
        numberedBytes += size
    }

    /// Counts a call whose messages are too large, once.
    private mutating func noteLimit() {
        if !isOverLimit { worker.limitHit(.mockMessages) }
        isOverLimit = true
    }

    /// A rule has been chosen.
    mutating func chosen() {
        if first !== last { first?.rest() }
        (first, messages) = (nil, nil)
    }

    /// Nothing reads messages until something happens.
    func rest() {
        last?.rest()
        for input in numbered.values { input.rest() }
    }

    /// The error of a message that is not of its type; where values are to be kept out, it says no more than that.
    func error(_ problem: MessageFlaw) -> RPCError {
        if problem.isTooLarge {
            return RPCError(problem.code, "message \(number) of the request cannot be read: \(problem.text)")
        }
        let text = "message \(number) of the request is not valid for its type"
        return RPCError(problem.code, call.redactions.hasPointers ? text : "\(text): \(problem.text)")
    }

    /// The request is complete.
    mutating func ended() { known = .all }

    /// Returns the value at a place of a message, or `nil` if the message has none or has not been received.
    ///
    /// - Parameters:
    ///   - pointer: The place.
    ///   - number: The number of the message; the last one if `nil`.
    ///   - isShown: Whether the value goes into logs, so that it has nothing that `redact` names.
    /// - Returns: The value.
    func value(at pointer: JSONPointer, ofMessage number: Int? = nil, isShown: Bool = false) -> JSONValue? {
        guard let input = number.map({ numbered[$0] }) ?? last, let message = input.value else { return nil }
        defer { restUnlessNeeded(input) }
        return view(of: isShown ? call.redactions.masked(message) : message)?.value(at: pointer)
    }

    /// The value in a place of the first message, if there is one.
    func firstValue(at pointer: JSONPointer) -> JSONValue? { view(of: firstMessage)?.value(at: pointer) }

    /// Returns the index of the first condition that does not hold for a message of the request, or nil if all hold.
    func failing(_ conditions: [JSONCondition], for message: JSONValue?) -> Int? {
        guard let view = view(of: message) else { return conditions.isEmpty ? nil : 0 }
        return conditions.firstIndex { !$0.holds(for: view) }
    }

    /// Returns the same for a kept message, which is parsed for the time of the comparison.
    func failing(_ conditions: [JSONCondition], in input: MockInput) -> Int? {
        guard !conditions.isEmpty else { return nil }
        defer { restUnlessNeeded(input) }
        return failing(conditions, for: input.value)
    }

    private func restUnlessNeeded(_ input: MockInput) {
        if input !== last, input !== first { input.rest() }
    }

    /// The message that came last, as logs may show it.
    var shownPayload: [UInt8] {
        guard call.redactions.hasPointers, !payload.isEmpty else { return payload }
        return message.map { call.redactions.masked($0).bytes } ?? Array("\(MaskedText.mask)".utf8)
    }

    private func view(of message: JSONValue?) -> MessageView? { message.map { call.view(of: $0, .request) } }
}

internal import Bytes
internal import Configuration
internal import RPC
internal import Telemetry
internal import Time

/// The calls of a mock that began last, within a number of bytes: what came of each, what was sent, and when.
struct MockJournal: Sendable {
    /// A message as it may be shown.
    enum Payload {
        case json([UInt8])
        case bytes([UInt8])
        /// Too long to be kept: its length.
        case cut(Int)
        /// Nobody knows what is in it that is not to be shown: its length.
        case withheld(Int)

        fileprivate var bytes: Int {
            switch self {
            case .json(let bytes), .bytes(let bytes): bytes.count
            case .cut, .withheld: 0
            }
        }
    }

    /// How a call has ended.
    enum End {
        case status(RPCCode, String)
        /// With a response of this HTTP status, be it plain or raw.
        case response(Int)
        /// The caller has left.
        case canceled
        /// The mock has failed as an upstream does.
        case failed(String)
    }

    /// A message and the time since its call began.
    struct Message {
        let time: Duration
        let payload: Payload
    }

    /// One call.
    struct Entry {
        /// When it began.
        let time: WallTime
        /// What is known of its head: an object of JSON.
        let request: [UInt8]
        /// The place of the rule, once it is known.
        var rule: String?
        /// What lacks of the nearest rule, if none is for the call.
        var lack: String?
        /// Whether the call has gone on to the upstream.
        var goesOn = false
        /// What of the live response is not as recorded, if they were compared.
        var differences: [String]?
        private(set) var received: [Message] = []
        private(set) var sent: [Message] = []
        /// When the request was complete.
        var closed: Duration?
        /// When the call ended, and how.
        var end: (time: Duration, End)?

        /// About how many bytes the head and the messages take.
        private var messageSize: Int

        init(at time: WallTime, request: [UInt8]) {
            (self.time, self.request) = (time, request)
            messageSize = 256 + request.count
        }

        /// About how many bytes it takes.
        fileprivate var size: Int {
            var size = messageSize + (lack?.utf8.count ?? 0)
            for difference in differences ?? [] { size += 16 + difference.utf8.count }
            switch end?.1 {
            case .status(_, let text), .failed(let text): size += text.utf8.count
            case .response, .canceled, nil: break
            }
            return size
        }

        /// A message of the request has come.
        mutating func receive(_ message: Message) {
            received.append(message)
            messageSize += 64 + message.payload.bytes
        }

        /// A message of the response has been sent.
        mutating func send(_ message: Message) {
            sent.append(message)
            messageSize += 64 + message.payload.bytes
        }
    }

    /// The most bytes that the calls may take together; 0 keeps none.
    let limit: Int
    /// How many calls have come.
    private(set) var count = 0
    /// About how many bytes they take.
    private(set) var bytes = 0
    /// How many calls had come when all were removed.
    private var cleared = 0
    private var entries: [Entry] = []
    /// The place of the oldest one that is kept.
    private var first = 0

    init(limit: Int) { self.limit = limit }

    /// The longest message that is kept whole.
    static func maxMessage(of limit: Int) -> Int { limit / 16 }

    /// The calls that have not ended.
    var openCount: Int { entries[first...].reduce(0) { $0 + ($1.end == nil ? 1 : 0) } }

    /// Adds a call.
    ///
    /// - Returns: its number, from 1.
    mutating func begin(_ entry: Entry) -> Int {
        count += 1
        entries.append(entry)
        bytes += entry.size
        makeRoom()
        return count
    }

    /// Changes a call that is still kept.
    mutating func note(_ number: Int, _ change: (inout Entry) -> Void) {
        let index = entries.count - 1 - (count - number)
        guard index >= first, index < entries.count else { return }
        let before = entries[index].size
        change(&entries[index])
        bytes += entries[index].size - before
        makeRoom()
    }

    /// Removes all calls; those that come keep their numbers.
    mutating func removeAll() { self = MockJournal(limit: limit, cleared: count) }

    private init(limit: Int, cleared: Int) { (self.limit, count, self.cleared) = (limit, cleared, cleared) }

    private mutating func makeRoom() {
        while bytes > limit, first < entries.count {
            bytes -= entries[first].size
            entries[first] = Entry(at: .min, request: [])
            first += 1
        }
        guard first > 64, first > entries.count / 2 else { return }
        entries.removeFirst(first)
        first = 0
    }

    // MARK: For people

    /// Writes the calls as members of an object of JSON.
    func describe(to json: inout JSONWriter) {
        let kept = entries[first...]
        json.field("removed", number: count - cleared - kept.count)
        json.beginArray("calls")
        for (number, entry) in zip((count - kept.count + 1)..., kept) {
            json.beginItem(onNewLine: true)
            json.field("number", number: number)
            entry.describe(to: &json)
            json.endObject()
        }
        json.endArray()
    }
}

extension MockJournal.Entry {
    fileprivate func describe(to json: inout JSONWriter) {
        json.field("time", string: TimestampFormatter.text(time))
        json.field("request") { $0.append(request) }
        if let rule { json.field("rule", string: rule) }
        if let lack { json.field("unmatched", string: lack) }
        if goesOn { json.field("next", true) }
        if let differences { json.field("differences", texts: differences.map { Array($0.utf8) }) }
        Self.describe(received, "received", to: &json)
        if let closed { json.field("closed_ms", milliseconds: closed) }
        Self.describe(sent, "sent", to: &json)
        guard let (time, end) = end else { return }
        json.field("ended_ms", milliseconds: time)
        switch end {
        case .status(let code, let message):
            json.field("code", text: code.name)
            if !message.isEmpty { json.field("message", string: message) }
        case .response(let status): json.field("status", number: status)
        case .canceled: json.field("canceled", true)
        case .failed(let problem): json.field("failed", string: problem)
        }
    }

    private static func describe(_ messages: [MockJournal.Message], _ name: StaticString, to json: inout JSONWriter) {
        json.beginArray(name)
        for message in messages {
            json.beginItem()
            json.field("ms", milliseconds: message.time)
            switch message.payload {
            case .json(let bytes): json.field("json") { $0.append(bytes) }
            case .bytes(let bytes):
                let text = String(validating: bytes, as: UTF8.self)
                let isText = text?.unicodeScalars.allSatisfy {
                    $0.value >= 0x20 || "\n\r\t".unicodeScalars.contains($0)
                }
                if let text, isText == true {
                    json.field("text", string: text)
                } else {
                    json.field("base64", base64: bytes.span)
                }
            case .cut(let count):
                json.field("bytes", number: count)
                json.field("truncated", true)
            case .withheld(let count):
                json.field("bytes", number: count)
                json.field("withheld", true)
            }
            json.endObject()
        }
        json.endArray()
    }
}

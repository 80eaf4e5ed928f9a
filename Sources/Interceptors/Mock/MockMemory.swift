internal import Bytes
internal import Configuration
internal import Events
public import Telemetry
internal import Time

/// What the process remembers of a mock: how often its rules have applied, the states of its callers, and its journal.
///
/// All workers share it, and a reload keeps it if the mock stays as it is. Safe on any thread.
public final class MockMemory: Sendable {
    /// Whether a rule applies to a call.
    enum Application {
        case applied
        /// It has applied as often as it may.
        case usedUp
        /// The key is in another state.
        case inState(String)
    }

    private struct Content {
        /// How often each rule has applied.
        var applied: [Int]
        var states: MockStates
        var journal: MockJournal
        var unmatched = 0
        /// All rules before it have applied.
        var next = 0
    }

    /// The name of the mock.
    public let name: String
    let settings: MockSettings
    /// The signals that its scripts wait for.
    public let signals: [String]
    private let digest: Int
    /// The places of its rules.
    private let places: [String]
    /// The same with the names of recorded calls.
    private let names: [String]
    /// How often each rule counts as applied at first.
    private let initial: [Int]
    private let isOfTape: Bool
    private let comparesLive: Bool
    private let content: Locked<Content>

    init(of mock: Mock) {
        (name, settings, signals, places) = (mock.name, mock.settings, mock.signals, mock.rules.map(\.place))
        digest = mock.tape?.digest ?? 0
        names = mock.rules.map { rule in
            rule.recordedCall.map { "\(rule.place), \(String(decoding: $0, as: UTF8.self))" } ?? rule.place
        }
        // What cannot be played is passed by.
        initial = mock.rules.map { $0.flaw == nil ? 0 : 1 }
        isOfTape = mock.tape != nil
        comparesLive = mock.tape?.comparesLive == true
        content = Locked(
            Content(
                applied: initial,
                states: MockStates(limit: mock.keyLimit),
                journal: MockJournal(limit: mock.journalLimit)
            )
        )
    }

    /// Applies a rule, if it may apply once more and the state is the one that it asks for.
    ///
    /// - Parameters:
    ///   - rule: the rule.
    ///   - key: whose state it is.
    /// - Returns: whether it applies; then it counts, and the state is what it becomes.
    func apply(_ rule: MockRule, key: [UInt8]) -> Application {
        content.withLock { content in
            if let times = rule.times, content.applied[rule.index] >= times { return .usedUp }
            if let state = rule.state {
                let key = MockStates.short(key)
                let present = content.states[key]
                if let required = state.required, present != required { return .inState(present) }
                if let next = state.next { content.states[key] = next }
            }
            content.applied[rule.index] += 1
            return .applied
        }
    }

    /// The first call of a tape that has not been played.
    var nextUnplayed: Int? {
        content.withLock { content in
            while content.next < content.applied.count, content.applied[content.next] > 0 { content.next += 1 }
            return content.next < content.applied.count ? content.next : nil
        }
    }

    /// Whether it is what is remembered of a mock that is like this.
    func isMemory(of mock: Mock) -> Bool { settings == mock.settings && digest == mock.tape?.digest ?? 0 }

    // MARK: The journal

    /// Writes a call down; the number is what is told about it later.
    func begin(_ entry: MockJournal.Entry) -> Int {
        content.withLock { $0.journal.begin(entry) }
    }

    /// Adds to what is written about a call, as long as it is kept.
    func note(_ number: Int, _ change: (inout MockJournal.Entry) -> Void) {
        content.withLock { $0.journal.note(number, change) }
    }

    /// Counts a call that no rule is for.
    func noteUnmatched() { content.withLock { $0.unmatched += 1 } }

    // MARK: For people

    /// Begins anew: no rule has applied, no key has a state, and no call is known.
    public func reset() {
        content.withLock { content in
            content.applied = initial
            content.states = MockStates(limit: content.states.limit)
            content.journal.removeAll()
            (content.unmatched, content.next) = (0, 0)
        }
    }

    /// Removes the calls.
    public func removeCalls() { content.withLock { $0.journal.removeAll() } }

    /// Writes an overview as members of an object of JSON.
    public func describe(to json: inout JSONWriter) {
        let content = content.withLock { $0 }
        json.field("name", string: name)
        json.field("calls", number: content.journal.count)
        json.field("open", number: content.journal.openCount)
        json.field("unmatched", number: content.unmatched)
        json.field("states", number: content.states.count)
        json.field("journal_bytes", number: content.journal.bytes)
        json.beginArray("rules")
        for (place, count) in zip(places, content.applied) {
            json.beginItem()
            json.field("rule", string: place)
            json.field("applied", number: count)
            json.endObject()
        }
        json.endArray()
    }

    /// Writes the journal as members of an object of JSON.
    public func describeCalls(to json: inout JSONWriter) {
        let content = content.withLock { $0 }
        json.field("mock", string: name)
        json.field("diff", comparesLive)
        if isOfTape {
            let unplayed = zip(names, content.applied).filter { $0.1 == 0 }
            json.field("unplayed", texts: unplayed.map { Array($0.0.utf8) })
        }
        content.journal.describe(to: &json)
    }
}

/// The states of a mock by their keys; those of the keys that came first are forgotten when there are too many.
struct MockStates {
    let limit: Int
    private var states: [[UInt8]: String] = [:]
    /// The keys in the order in which they came, some of which may be forgotten already.
    private var order: [[UInt8]] = []
    private var oldest = 0

    init(limit: Int) { self.limit = limit }

    /// The longest key that is kept as it is: callers choose keys.
    private static let maxKey = 128

    /// What stands for a key: itself, or its beginning and a hash.
    static func short(_ key: [UInt8]) -> [UInt8] {
        guard key.count > maxKey else { return key }
        return key.prefix(maxKey) + Array("\(key.count) \(key.span.fnv1a)".utf8)
    }

    var count: Int { states.count }

    subscript(key: [UInt8]) -> String {
        get { states[key] ?? MockState.first }
        set {
            if states.updateValue(newValue, forKey: key) == nil { order.append(key) }
            guard states.count > limit else { return }
            states[order[oldest]] = nil
            oldest += 1
            if oldest > order.count / 2 {
                order.removeFirst(oldest)
                oldest = 0
            }
        }
    }
}

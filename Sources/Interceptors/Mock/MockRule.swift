internal import Configuration
internal import Documents
internal import Events
internal import Proxy

/// A rule of a mock: the calls that it is for, and what becomes of them.
struct MockRule: Sendable {
    /// What is asked of the head; none asks nothing.
    private let condition: Condition?
    /// What is asked of the first message.
    private let json: [JSONCondition]
    /// How often it applies; none is always.
    private let count: MockCount?
    let script: MockScript
    /// The place in the file, for people.
    let mark: Mark

    /// Reads a rule and reports what is wrong with it.
    init(_ section: Section) {
        let when = section.section("when")
        condition = section.has("when") ? Condition(ConditionSettings(when), into: section.diagnostics) : nil
        json = JSONCondition.all(when)
        count = section.integer(ifGiven: "times").map(MockCount.init)
        script = MockScript(section)
        mark = section.mark
    }

    /// Whether it asks for the first message.
    var asksMessage: Bool { !json.isEmpty }

    /// Whether the head of a call is as the rule asks.
    func holds(for call: Call) -> Bool { condition?.holds(for: call) ?? true }

    /// The place of the first message that is not as the rule asks; none if all is.
    func lack(of message: JSONValue?, _ isProtoJSON: Bool) -> String? {
        json.first { test in message.map { !test.holds(for: $0, isProtoJSON) } ?? true }?.name
    }

    /// Takes one of its applications; false if there is none left.
    func take() -> Bool { count?.take() ?? true }
}

/// How often a rule has applied, in all workers together.
final class MockCount: Sendable {
    private let left: Locked<Int>

    init(_ times: Int) {
        left = Locked(times)
    }

    /// Takes one; false if there is none left.
    func take() -> Bool {
        left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }
}

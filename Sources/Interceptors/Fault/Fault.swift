internal import Configuration
internal import Events
internal import Proxy
internal import RPC
internal import Time

/// What goes wrong with a call on purpose.
struct Fault: Equatable {
    /// How a call, or its response, ends.
    enum Ending: Equatable {
        case error(RPCError)
        /// The caller's stream is reset, without a word.
        case reset
    }

    static let options = [
        Option(
            "delay",
            .section(delayOptions, shorthand: "time"),
            example: "100ms",
            """
            Delays the head of the request or of the response. A delay beyond the listener's \
            `timeouts.suspension` ends the call.
            """
        ),
        Option(
            "code",
            .choice(RPCCode.errorNames),
            example: "unavailable",
            "The code of the error that ends the call."
        ),
        Option("message", .string, default: "a fault on purpose", "The message of the error."),
        Option("reset", .bool, default: "false", "Resets the caller's stream instead of sending an error."),
        Option(
            "cut_after",
            .integer(in: 0...Int.max),
            example: "1",
            """
            Ends the response after this many messages. The default code is `unavailable`. It has no effect in \
            plain HTTP.
            """
        ),
        Option(
            "throttle",
            .size(in: 1...Int.max),
            example: "64KiB",
            """
            Limits the bytes of messages per second in each direction. Plain HTTP bodies are not throttled. A \
            message that waits longer than the listener's `timeouts.suspension` ends the call.
            """
        ),
        Option(
            "percentage",
            .string,
            default: "100",
            "The percentage of calls that the fault applies to, such as 0.5."
        ),
    ]

    private static let delayOptions = [
        Option("time", .duration, required: true, example: "100ms", "The length of the delay."),
        Option(
            "on",
            .choice(["request", "response"]),
            default: "request",
            "The head to delay. With `response`, the error or reset also waits for the response of the upstream."
        ),
    ]

    /// How long the head waits.
    let delay: Duration
    /// Whether it is the response's head that waits and ends, rather than the request's.
    let isOnResponse: Bool
    private let ending: Ending?
    private let cut: Int?
    private let fallback: RPCError
    /// How many bytes of messages go on in a second, in each direction.
    let throttle: Int?
    /// For how many of a hundred calls this holds.
    let percentage: Double

    /// Reads a fault and reports what is wrong with it.
    init(_ section: Section) {
        let delaySection = section.section("delay")
        delay = section.has("delay") ? delaySection.duration("time") ?? .zero : .zero
        isOnResponse = delaySection.string("on") == "response"
        let message = section.string("message")
        let code = section.string(ifGiven: "code").flatMap { RPCCode(name: $0) }
        fallback = RPCError(.unavailable, message)
        ending = section.bool("reset") ? .reset : code.map { .error(RPCError($0, message)) }
        cut = section.integer(ifGiven: "cut_after")
        throttle = section.integer(ifGiven: "throttle")
        let text = section.string("percentage")
        percentage = Self.percentage(text) ?? 0
        if Self.percentage(text) == nil {
            let problem = "\"percentage\" cannot be \(Diagnostic.quote(text))"
            section.report("\(problem); write a number from 0 to 100, such as 0.5", at: "percentage")
        }
        if section.has("message"), !section.has("code"), !section.has("cut_after") {
            section.reportUnused("message", without: "code", "cut_after")
        }
        if section.bool("reset"), section.has("code") {
            section.reportConflict("code", "reset")
        }
    }

    /// Reads a percentage.
    private static func percentage(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ".") }), let value = Double(text) else {
            return nil
        }
        return value <= 100 ? value : nil
    }

    /// Whether nothing happens.
    var isEmpty: Bool { delay == .zero && ending == nil && cut == nil && throttle == nil }

    /// How the call ends at the head that waits.
    var headEnding: Ending? { cut == nil ? ending : nil }

    /// Whether responses end after some messages.
    var cutsResponses: Bool { cut != nil }

    /// How a response ends that has had so many messages.
    func ending(after messages: Int) -> Ending? {
        guard let cut, messages >= cut else { return nil }
        return ending ?? .error(fallback)
    }
}

internal import Bytes
internal import Configuration
internal import Protocols
internal import Proxy
internal import RPC

/// Looks at messages: requires things of them, changes, replaces or drops them, writes them down.
struct MessagePlan: InterceptorPlan, Pointing {
    static let kind = InterceptorKind(
        name: "message",
        summary: """
            Writes the messages of a request or response to a log, checks them, and changes, replaces or drops \
            them, in this order. It sees messages without envelope and compression. Plain HTTP has no messages.
            """,
        options: [
            Option(
                "on",
                .choice(["request", "response"]),
                required: true,
                example: "request",
                "The side whose messages the interceptor sees."
            ),
            Option(
                "tee",
                .string,
                example: "/var/log/martlet/messages.log",
                "The destination of the messages: `stdout`, `stderr` or a file."
            ),
            Option(
                "tee_limit",
                .size(in: 0...Int.max),
                default: "64KiB",
                "The number of bytes to write of each message."
            ),
            Option(
                "require",
                .section(MessageRequirements.options),
                "The conditions of each message. If one does not hold, the call ends with an error."
            ),
            Option(
                "code",
                .choice(RPCCode.errorNames),
                example: "failed_precondition",
                "The code of the error. The default is `invalid_argument` for requests and `internal` for responses."
            ),
            Option("text", .string, "The message of the error. The default says what is wrong."),
            Option("replace", .section(replacementOptions), "The message to send instead of each message."),
            Option(
                "drop",
                .bool,
                default: "false",
                "Drops each message. A unary Connect call gets an empty message instead."
            ),
        ] + MessageChanges.options,
        plan: { MessagePlan($0, $1) }
    )

    private static let replacementOptions = [
        Option("text", .string, oneOf: "replacement", example: "hello", "Text."),
        Option("json", .node, oneOf: "replacement", "JSON: a YAML value, or a string of JSON."),
        Option("hex", .string, oneOf: "replacement", example: "0a 02 68 69", "Bytes in hexadecimal."),
        Option("base64", .string, oneOf: "replacement", example: "CgJoaQ==", "Bytes in base64."),
    ]

    let events: EventSet
    let isOnRequest: Bool
    let tee: MessageTee.Plan?
    let requirements: MessageRequirements?
    let code: RPCCode
    let text: String?
    let changes: MessageChanges?
    let replacement: [UInt8]?
    /// Whether the replacement is JSON, which is to be in the codec of the call.
    let isReplacementJSON: Bool
    let drops: Bool

    init(_ section: Section, _ context: BuildContext) {
        isOnRequest = section.string("on") == "request"
        events = isOnRequest ? .requestMessages : .responseMessages
        let direction: StaticString = isOnRequest ? "request" : "response"
        tee = section.has("tee") ? MessageTee.Plan(section, direction: direction, context) : nil
        requirements = section.has("require") ? MessageRequirements(section.section("require")) : nil
        code =
            section.string(ifGiven: "code").flatMap { RPCCode(name: $0) }
            ?? (isOnRequest ? .invalidArgument : .internal)
        text = section.string(ifGiven: "text")
        replacement = section.has("replace") ? Self.replacement(section.section("replace")) : nil
        isReplacementJSON = section.has("replace") && section.section("replace").has("json")
        changes = MessageChanges(section)
        drops = section.bool("drop")
        Self.check(section)
    }

    private static func replacement(_ section: Section) -> [UInt8] {
        if let text = section.string(ifGiven: "text") { return Array(text.utf8) }
        return section.json("json") ?? section.hexadecimal("hex") ?? section.base64("base64") ?? []
    }

    private static func check(_ section: Section) {
        let acts = ["tee", "require", "set", "remove", "replace"].contains { section.has($0) }
        if !acts, !section.bool("drop") {
            let advice = "add \"tee\", \"require\", \"set\", \"remove\", \"replace\" or \"drop: true\""
            section.diagnostics.report("the interceptor does nothing; \(advice)", at: section.mark)
        }
        if section.has("replace"), section.bool("drop") {
            section.reportConflict("replace", "drop")
        }
        for key in ["set", "remove"] where section.has(key) {
            for other in ["replace", "drop"] where section.has(other) { section.reportConflict(key, other) }
        }
        for (key, needed) in [("code", "require"), ("text", "require"), ("tee_limit", "tee")]
        where section.has(key) && !section.has(needed) {
            section.reportUnused(key, without: needed)
        }
    }

    var places: [MessagePlace] {
        let direction: Direction = isOnRequest ? .request : .response
        return (requirements?.places(direction) ?? []) + (changes?.places(direction) ?? [])
    }

    func instance(on worker: WorkerServices) -> any Interceptor { MessageInterceptor(self, on: worker) }
}

/// Looks at the messages of one worker's calls.
final class MessageInterceptor: Interceptor {
    private let plan: MessagePlan
    private let tee: MessageTee?

    init(_ plan: MessagePlan, on worker: WorkerServices) {
        self.plan = plan
        tee = plan.tee.map { MessageTee($0, on: worker) }
    }

    func maxJSON(of message: Message, _ call: Call) -> Int {
        plan.changes != nil && !call.hasMessageTypes ? .max : plan.requirements?.maxJSON ?? 0
    }

    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        pass(payload, message, call)
    }

    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        pass(payload, message, call)
    }

    private func pass(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict {
        tee?.write(payload, message, call)
        let error = plan.requirements?.error(
            of: payload,
            { message.view($0, call) },
            unreadable: call.problem(of: message)
        )
        if let error {
            if let flaw = message.flaw, flaw.isTooLarge { return .reject(flaw.error(of: message)) }
            if error == Call.unknownTypeText, let missing = call.missingTypes { return .reject(missing) }
            let direction = plan.isOnRequest ? "request" : "response"
            return .reject(RPCError(plan.code, plan.text ?? "message \(message.number) of the \(direction) \(error)"))
        }
        do throws(RPCError) {
            try plan.changes?.apply(to: payload, message, call)
            if let replacement = plan.replacement {
                var bytes = replacement
                if plan.isReplacementJSON { bytes = try call.message(json: replacement.span, message.direction) }
                message.replace(with: bytes.span)
            }
        } catch {
            let isOfTypes = [.unimplemented, .unavailable, .resourceExhausted].contains(error.code)
            return .reject(RPCError(isOfTypes ? error.code : plan.code, error.message))
        }
        if plan.drops { message.drop() }
        return .next
    }
}

extension Call {
    fileprivate static let unknownTypeText = "has a type that Martlet does not know"

    /// What is wrong with a message that cannot be read as JSON; where values are to be kept out, no more than that.
    fileprivate func problem(of message: Message) -> String {
        if hasMessageTypes {
            let flaw = redactions.hasPointers ? nil : message.flaw?.text
            return "is not valid for its type" + (flaw.map { ": \($0)" } ?? "")
        }
        return lacksMessageTypes ? Self.unknownTypeText : "is not valid JSON"
    }
}

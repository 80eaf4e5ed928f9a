internal import Bytes
internal import Configuration
internal import Documents
internal import Protocols
internal import Proxy
internal import RPC
internal import Time

/// What a mock does in a call, step by step.
///
/// A response to a whole request is a script, too: it waits for the end, sends a message and ends.
struct MockScript: Sendable {
    /// A step, once it has been read.
    enum Step: Sendable {
        /// Waits for the next message, which must be like this.
        case expect([JSONCondition])
        /// Waits for the next message, or goes on elsewhere when the request is complete.
        case receive(orGoTo: Int)
        /// Goes on elsewhere.
        case goTo(Int)
        /// Waits until the request is complete, and takes its messages meanwhile.
        case closed
        case wait(MockPause)
        /// Waits until so much time has passed since the start of the call.
        case at(Duration)
        /// Waits for the next message, which must be as it was recorded.
        case recorded(TapeMessage, ignoring: [JSONPointer])
        /// Waits until a signal is raised.
        case until(String)
        case signal(String)
        /// Lets the response take its time, at so many bytes a second.
        case slowDown(Int)
        /// Sends an interim response, with its status.
        case interim(Int, MockFields)
        /// Sends the head, with a status in plain HTTP.
        case headers(Int, MockFields)
        case send(MockMessage)
        /// A whole response of plain HTTP.
        case plain(MockPlainResponse)
        /// A whole response as it stands, in the protocol of the caller.
        case raw(MockRaw)
        case end(MockEnd)
        /// Rejects the call, as a server that cannot accept the head of the request does.
        case reject(RPCError)
        case fail(MockFailure)
    }

    /// What every method does without a rule: it responds with an empty message.
    static let empty = [Step.closed, .send(.empty), .end(.success)]

    /// What every method does that invents its messages.
    static let fake = [Step.closed, .send(.fake), .end(.success)]

    /// What a call gets whose attempts come to raw responses and to others.
    static let mixed = [Step.end(.mixed)]

    /// The script for a call whose codec Martlet does not know.
    static let foreignCodec = [Step.reject(.unsupportedType("the mock does not know the codec; use json or proto"))]

    /// Whether steps read or make messages in the codec of the caller.
    static func needsCodec(_ steps: [Step]) -> Bool {
        steps.contains { step in
            switch step {
            case .expect(let conditions): !conditions.isEmpty
            case .send(let message): message.needsCodec
            default: false
            }
        }
    }

    /// No step of a tape comes later than that after the start of its call.
    private static let maxTime = 365 * 86_400 * Duration.second

    private(set) var steps: [Step] = []
    /// The pause before each message.
    private var pause = MockPause.none
    /// Whether a step sends the head of the response, so that no interim response can follow.
    private var hasHead = false

    /// Reads the response of a rule, or its outputs, or its script; what is wrong is reported.
    init(_ rule: Section) {
        if rule.has("script") {
            addDelay(rule.section("delay"))
            add(rule.sections("script"))
        } else if rule.has("outputs") {
            addOutputs(rule)
        } else {
            addResponse(rule.section("respond"))
        }
        let given = ["respond", "outputs", "script"].filter { rule.has($0) }
        if given.count > 1 { rule.reportConflict(given[0], given[1]) }
        if rule.has("emit"), !rule.has("outputs") { rule.reportUnused("emit", without: "outputs") }
        let isList = rule.has("outputs") || rule.has("script")
        if rule.has("delay"), !isList { rule.reportUnused("delay", without: "outputs", "script") }
        checkPauses((isList ? rule : rule.section("respond")).section("delay"))
    }

    /// Reads the recording of a call; what is wrong is reported.
    init(recorded document: Section, _ form: TapeForm) {
        let isProto = document.string(ifGiven: "codec") == "proto"
        for step in document.sections("script") {
            if let speed = form.speed, let time = step.duration("at"), !step.has("expect"), !step.has("closed") {
                let nanoseconds = min(Double(time.nanoseconds) / speed, Double(Self.maxTime.nanoseconds))
                steps.append(.at(.nanoseconds(Int64(nanoseconds))))
            }
            if step.has("expect") {
                steps.append(.recorded(TapeMessage(step.section("expect")), ignoring: form.ignored))
            } else if step.has("send") {
                steps.append(.send(MockMessage(recorded: step.section("send"), isProto: isProto)))
            } else {
                addCommon(step)
            }
        }
    }

    /// The signals that it waits for.
    var awaitedSignals: [String] {
        steps.compactMap { if case .until(let name) = $0 { name } else { nil } }
    }

    /// The places of messages that it asks for.
    var places: [MessagePlace] {
        steps.flatMap { step -> [MessagePlace] in
            if case .expect(let conditions) = step { conditions.map(\.place) } else { [] }
        }
    }

    /// The messages that it sends, as far as they are the same for all calls.
    var constants: [[UInt8]] {
        steps.compactMap { if case .send(let message) = $0 { message.constant } else { nil } }
    }

    /// Whether a message cannot be made without types.
    var needsTypes: Bool {
        steps.contains { if case .send(let message) = $0 { message.needsTypes } else { false } }
    }

    /// The parts of the path that its messages have in them.
    var pathNames: [String] {
        steps.flatMap { step -> [String] in
            switch step {
            case .send(let message): message.texts.flatMap(\.pathNames)
            case .plain(let response): response.texts.flatMap(\.pathNames)
            default: []
            }
        }
    }

    /// How it may end.
    var ends: [MockEnd] {
        steps.compactMap { if case .end(let end) = $0 { end } else { nil } }
    }

    /// How many messages it sends, if each is sent once.
    var count: Int {
        let loops = steps.contains { if case .goTo = $0 { true } else { false } }
        return loops ? 0 : steps.count { if case .send = $0 { true } else { false } }
    }

    /// Whether it is a response that only plain HTTP has: a redirection.
    var isPlain: Bool {
        steps.contains { if case .plain(let response) = $0 { response.isRedirect } else { false } }
    }

    /// Whether it waits for one message after the other.
    var readsMessages: Bool {
        steps.contains { step in
            switch step {
            case .expect, .recorded, .goTo: true
            default: false
            }
        }
    }

    /// Whether it sends what is not to be translated.
    var isRaw: Bool {
        steps.contains { if case .raw = $0 { true } else { false } }
    }

    // MARK: A response

    private mutating func addResponse(_ section: Section) {
        let ways = ["fail", "raw", "redirect"].filter { section.has($0) }
        let others = ["json", "text", "hex", "base64", "file", "echo", "fake", "code", "message", "details"]
        if let way = ways.first, let other = (ways.dropFirst() + others.filter { section.has($0) }).first {
            section.reportConflict(way, other)
        }
        for interim in section.sections("interim") { addInterim(interim) }
        steps.append(.closed)
        addDelay(section.section("delay"))
        if let failure = section.string(ifGiven: "fail").flatMap(MockFailure.init) {
            return steps.append(.fail(failure))
        }
        if section.has("speed") { steps.append(.slowDown(section.size("speed"))) }
        if section.has("raw") { return addOutput(.raw(MockRaw(section.section("raw")))) }
        let message = MockMessage(section)
        let end = MockEnd(section)
        let plain = MockPlainResponse(section, message, isError: !end.isSuccess)
        // The message is added in both of its forms; a call gets one of them, after one pause.
        if !pause.isEmpty, plain != nil || message != nil { steps.append(.wait(pause)) }
        if let plain { steps.append(.plain(plain)) }
        guard !section.has("redirect") else { return steps.append(.end(.redirected)) }
        let headers = MockFields("headers", of: section)
        if !headers.isEmpty { steps.append(.headers(200, headers)) }
        if let message {
            steps.append(.send(message))
        } else if end.isSuccess {
            steps.append(.send(.empty))
        }
        steps.append(.end(end))
    }

    // MARK: Outputs

    private mutating func addOutputs(_ rule: Section) {
        let (outputs, delay) = (rule.sections("outputs"), rule.section("delay"))
        switch rule.string("emit") {
        case "on_open": break
        case "after_close": steps.append(.closed)
        case "per_input": return addLoop(outputs, delay)
        default:
            // What comes behind the first message is not waited for.
            steps.append(.receive(orGoTo: steps.count + 1))
        }
        addDelay(delay)
        add(outputs)
    }

    // MARK: Steps

    private mutating func add(_ sections: [Section]) {
        for section in sections { add(section) }
    }

    private mutating func add(_ section: Section) {
        if let time = section.has("at") ? section.duration("at") : nil { steps.append(.at(time)) }
        if section.has("send") {
            guard let message = MockMessage(inScript: section.section("send")) else {
                let advice = "add \"json\", \"text\", \"hex\", \"base64\", \"file\", \"echo\" or \"fake\""
                return section.report("there is no message; \(advice)", at: "send")
            }
            addOutput(.send(message))
        } else if section.has("wait") {
            steps.append(.wait(MockPause(section.section("wait"))))
        } else if let name = section.string(ifGiven: "until") {
            steps.append(.until(name))
        } else if let name = section.string(ifGiven: "signal") {
            steps.append(.signal(name))
        } else if section.has("expect") {
            let expected = section.section("expect")
            let isExact = !expected.has("json") && (expected.has("text") || expected.has("base64"))
            steps.append(
                isExact ? .recorded(TapeMessage(expected), ignoring: []) : .expect(JSONCondition.all(expected))
            )
        } else if let node = section.node("each") {
            guard case .sequence(let items) = node.content else {
                return section.report("\"each\" cannot be \(node.summary); write a list of steps", at: "each")
            }
            addLoop(items.map { Section($0, MockSettings.stepOptions, into: section.diagnostics) })
        } else {
            addCommon(section)
        }
    }

    /// Adds a step that scripts and recordings write in the same way.
    private mutating func addCommon(_ section: Section) {
        section.reportFalse("closed", "reset")
        if section.has("interim") {
            if hasHead { Self.reportLate(section) }
            addInterim(section.section("interim"))
        } else if section.has("headers") {
            hasHead = true
            steps.append(.headers(section.integer("status"), MockFields("headers", of: section)))
        } else if section.has("closed") {
            steps.append(.closed)
        } else if section.has("respond") {
            addOutput(.plain(MockPlainResponse(recorded: section.section("respond"))))
        } else if section.has("end") {
            steps.append(.end(MockEnd(section.section("end"))))
        } else if section.has("reset") {
            steps.append(.fail(.reset))
        }
    }

    /// Steps for each message until the request is complete.
    private mutating func addLoop(_ sections: [Section], _ delay: Section? = nil) {
        let (start, hadHead) = (steps.count, hasHead)
        steps.append(.receive(orGoTo: 0))
        if let delay { addDelay(delay) }
        add(sections)
        steps.append(.goTo(start))
        steps[start] = .receive(orGoTo: steps.count)
        // When the loop repeats, the head has been sent.
        if hasHead, !hadHead, let late = sections.first(where: { $0.has("interim") }) { Self.reportLate(late) }
    }

    /// Adds a message or a whole response, after its pause.
    private mutating func addOutput(_ step: Step) {
        hasHead = true
        if !pause.isEmpty { steps.append(.wait(pause)) }
        steps.append(step)
    }

    private mutating func addInterim(_ section: Section) {
        let status = section.integer("status")
        if status == 101 {
            section.report("an interim response cannot be 101, which changes the protocol; write 103", at: "status")
        }
        steps.append(.interim(status, MockFields("headers", of: section)))
    }

    private static func reportLate(_ section: Section) {
        let problem = "an interim response comes before the head of the response"
        section.report("\(problem); move it before \"headers\", \"send\" and \"respond\"", at: "interim")
    }

    // MARK: Pauses

    /// Adds the pause at this place, and sets the one before each later message.
    private mutating func addDelay(_ section: Section) {
        let start = MockPause(section)
        if !start.isEmpty { steps.append(.wait(start)) }
        if section.has("each") { pause = MockPause(section.section("each")) }
    }

    /// Reports a pause before each message if there are no messages.
    private func checkPauses(_ delay: Section) {
        let sends = steps.contains { step in
            switch step {
            case .send, .plain, .raw: true
            default: false
            }
        }
        guard delay.has("each"), !sends else { return }
        delay.report("there is no message that \"each\" could delay; write \"from\", or add a message", at: "each")
    }
}

/// How an upstream fails that a mock stands for.
enum MockFailure: String, Sendable {
    case reset, connect, timeout, dns

    /// The failure as it comes from an upstream.
    var error: UpstreamError {
        switch self {
        case .reset: .lost
        case .connect: .noListener
        case .timeout: .attemptTimeout
        case .dns: .noSuchHost
        }
    }
}

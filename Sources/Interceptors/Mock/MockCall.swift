internal import Bytes
internal import Documents
internal import Events
internal import Protocols
internal import Proxy
internal import RPC
internal import Time

/// One call that a mock serves: chooses the rule, if that depends on the first message, and goes through its script.
final class MockCall: LocalService {
    private let exchange: LocalExchange
    private let server: MockServer
    private let journal: MockRecorder?
    /// When the call began.
    private let start: Instant
    private var script: [MockScript.Step]?
    private var position = 0
    private var context: MockContext
    /// Whether the request is complete.
    private var isClosed = false
    /// Whether the script waits for time to pass.
    private var timer: Timer?
    /// The signal that the script waits for.
    private var alarm: (name: String, ticket: Int, number: Int)?
    /// How often each signal has been raised that is of no use for the call any more.
    private var usedSignals: [String: Int] = [:]
    /// A message that came before the step that waits for it.
    private var hasUnused = false
    /// Whether steps are being taken: what is sent may lead back here.
    private var isRunning = false

    init(_ exchange: LocalExchange, _ server: MockServer, _ rule: MockRule?) {
        (self.exchange, self.server) = (exchange, server)
        let keepsAll = rule == nil && server.mock.asks == .all
        context = MockContext(exchange.call, of: server.mock, on: server.worker, keepsAll: keepsAll)
        start = context.call.now
        journal = MockRecorder(context, server.memory, limit: server.mock.journalLimit)
        if server.alarms != nil { usedSignals = server.signals.raised(server.mock.signals) }
        if let rule { begin(rule) }
    }

    private func begin(_ rule: MockRule) {
        run(rule.script.steps)
        // An attempt may come to another rule than the one before, which has decided how the caller is spoken to.
        if context.call.rpcProtocol != .http, exchange.isRaw != rule.script.isRaw { script = MockScript.mixed }
        context.captures = rule.captures(of: context.call)
        context.chosen()
        journal?.chosen(rule)
        if let signal = rule.signal { server.signals.raise(signal) }
    }

    /// Begins a script, unless it needs a codec that the caller does not use.
    private func run(_ steps: [MockScript.Step]) {
        let hasCodec = context.call.codec != .other || context.call.rpcProtocol == .http
        script = hasCodec || !MockScript.needsCodec(steps) ? steps : MockScript.foreignCodec
    }

    // MARK: LocalService

    func opened() { go() }

    var wantsMessage: Bool {
        // A rule may ask for all of them.
        guard let script else { return context.number == 0 || context.keepsAll }
        guard position < script.count else { return true }
        switch script[position] {
        // Another message would replace the one that waits for this step.
        case .expect, .recorded, .receive: return !hasUnused
        case .closed: return true
        case .headers, .interim, .send: return isEarly(script[position])
        default: return false
        }
    }

    func received(_ payload: Span<UInt8>) {
        context.received(payload)
        journal?.received(context)
        hasUnused = true
        if let problem = context.problem { return end(context.error(problem)) }
        go()
    }

    func receivedEnd() {
        isClosed = true
        context.ended()
        journal?.closed(at: context.call.now)
        go()
    }

    /// The journal has all messages, whenever the script has ended.
    var readsOn: Bool { journal != nil }

    func resumed() { go() }

    var heldBytes: Int { context.heldBytes }

    func ended() {
        timer?.cancel()
        timer = nil
        if let (name, ticket, number) = alarm {
            server.signals.stopWaiting(for: name, ticket)
            server.alarms?.remove(number)
            alarm = nil
        }
        // Unless the script has ended the call itself.
        journal?.ended(.canceled, at: context.call.now)
    }

    // MARK: The script

    /// Goes on as far as the script allows.
    private func go() {
        // After the response, the rest of the request is only for the journal.
        guard timer == nil, alarm == nil, !isRunning, !exchange.isOver, choose() else { return }
        isRunning = true
        defer { isRunning = false }
        while !exchange.isOver, !exchange.isPaused, timer == nil, let script {
            guard position < script.count else {
                end(nil)
                break
            }
            let before = position
            do throws(RPCError) {
                guard try perform(script[position]) else { break }
            } catch {
                end(error)
                break
            }
            if position == before { position += 1 }
        }
        guard !exchange.isOver else { return }
        context.rest()
        // What waits may be for the step that the script has come to.
        exchange.schedule()
    }

    /// Whether there is a rule, and the script can run.
    private func choose() -> Bool {
        guard script == nil else { return true }
        switch server.mock.choose(context, server.memory) {
        case .rule(let rule): begin(rule)
        case .message: return false
        case .none(let miss):
            server.memory.noteUnmatched()
            journal?.unmatched(miss.text)
            guard let steps = server.steps(ofUnmatched: context.call) else {
                end(server.error(miss, for: context.call))
                return false
            }
            run(steps)
        }
        return true
    }

    /// Takes a step; false if it has to wait.
    private func perform(_ step: MockScript.Step) throws(RPCError) -> Bool {
        switch step {
        case .expect(let conditions): return try expect(conditions)
        case .receive(let end):
            if consumeMessage() { return true }
            guard isClosed else { return false }
            position = end
        case .goTo(let place): position = place
        case .closed:
            while consumeMessage() {}
            return isClosed
        case .wait(let length): pause(length.length(context.worker.randomFraction()))
        case .at(let time):
            let left = start + time - context.call.now
            if left > .zero { pause(left) }
        case .recorded(let message, let ignored): return try checkRecorded(message, ignored)
        case .until(let name): return wait(for: name)
        case .signal(let name): server.signals.raise(name)
        case .slowDown(let speed): exchange.slowDown(to: speed)
        case .headers where isEarly(step), .interim where isEarly(step), .send where isEarly(step): return false
        case .interim(let status, let fields): exchange.send(interim: status, headers: fields.values(context))
        case .headers(let status, let fields): begin(status, fields.values(context))
        case .send(let message):
            let payload = try message.payload(context)
            journal?.sent(payload, context)
            if context.call.rpcProtocol == .http { begin(200, message.plainHeaders) }
            exchange.send(payload.span)
        case .plain(let response):
            while consumeMessage() {}
            guard context.call.rpcProtocol == .http else { return true }
            let body = try response.body(context)
            journal?.sent(body, context)
            note(.response(response.status))
            response.send(body, context, to: exchange)
        case .raw(let response):
            journal?.sent(response.body, context)
            note(.response(response.status))
            response.send(to: exchange)
        case .end(let step): end(try step.error(context), trailers: step.trailers(context))
        case .reject(let error):
            note(.status(error.code, error.message))
            exchange.fail(.untranslatedRequest(error))
        case .fail(let failure):
            note(.failed("\(failure.error)"))
            exchange.fail(failure.error)
        }
        return true
    }

    /// Whether a step has a part of a message in it that has not been received yet.
    private func isEarly(_ step: MockScript.Step) -> Bool {
        guard !isClosed else { return false }
        return switch step {
        case .headers(_, let fields), .interim(_, let fields): fields.neededMessages > context.number
        case .send(let message): message.neededMessages > context.number
        default: false
        }
    }

    /// Sends the head, if it has not been sent.
    private func begin(_ status: Int, _ headers: [(name: [UInt8], value: [UInt8])]) {
        guard context.call.rpcProtocol == .http else { return exchange.send(headers: headers) }
        exchange.send(status: status, headers: headers)
    }

    private func pause(_ time: Duration) {
        timer = context.call.timer(after: time) { [unowned self] in
            timer = nil
            go()
        }
    }

    private func end(_ error: RPCError?, trailers: [(name: [UInt8], value: [UInt8])] = []) {
        note(.status(error?.code ?? .ok, error?.message ?? ""))
        exchange.end(error, trailers: trailers)
    }

    private func note(_ end: MockJournal.End) {
        journal?.ended(end, at: context.call.now)
    }

    // MARK: What steps wait for

    /// Takes the message that has come; false if none has yet.
    private func consumeExpected() throws(RPCError) -> Bool {
        if consumeMessage() { return true }
        guard isClosed else { return false }
        let problem = "the script expects a message, but the request is complete"
        throw RPCError(.failedPrecondition, "mock \(server.mock.name): \(problem)")
    }

    private func checkRecorded(_ message: TapeMessage, _ ignored: [JSONPointer]) throws(RPCError) -> Bool {
        guard try consumeExpected() else { return false }
        guard let place = message.difference(from: context, ignoring: ignored) else { return true }
        let problem = "message \(context.number) is not as recorded\(place.isEmpty ? "" : " at \(place)")"
        throw RPCError(.failedPrecondition, "mock \(server.mock.name): \(problem)")
    }

    private func expect(_ conditions: [JSONCondition]) throws(RPCError) -> Bool {
        guard try consumeExpected() else { return false }
        guard let wrong = context.failing(conditions, for: context.message).map({ conditions[$0] }) else { return true }
        let place = wrong.name.isEmpty ? "is another" : "has another value at \(wrong.name)"
        let problem = "message \(context.number) \(place)"
        throw RPCError(.failedPrecondition, "mock \(server.mock.name): \(problem)")
    }

    /// Takes the message that has come; false if none has.
    private func consumeMessage() -> Bool {
        defer { hasUnused = false }
        return hasUnused
    }

    /// Whether a signal has been raised for the call; if not, the script goes on when it is.
    private func wait(for name: String) -> Bool {
        guard let alarms = server.alarms else { return true }
        let used = usedSignals[name] ?? 0
        let (number, ring) = alarms.set { [unowned self] in
            alarm = nil
            go()
        }
        guard let ticket = server.signals.wait(for: name, beyond: used, wake: ring) else {
            alarms.remove(number)
            usedSignals[name] = used + 1
            return true
        }
        alarm = (name, ticket, number)
        return false
    }
}

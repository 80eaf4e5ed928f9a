internal import Bytes
internal import Documents
internal import Events
internal import Protocols
internal import Proxy
internal import RPC

/// One call that a mock serves: chooses the rule, if that depends on the first message, and goes through its script.
final class MockCall: LocalService {
    private let exchange: LocalExchange
    private let mock: Mock
    private let unmatched: Mock.Unmatched
    private var script: [MockScript.Step]?
    private var position = 0
    private var context: MockContext
    /// Whether the request is complete.
    private var isClosed = false
    /// Whether the script waits for time to pass.
    private var timer: Timer?
    /// A message that came before the step that waits for it.
    private var hasUnused = false
    /// Whether steps are being taken: what is sent may lead back here.
    private var isRunning = false

    init(_ exchange: LocalExchange, _ mock: Mock, _ rule: MockRule?, _ unmatched: Mock.Unmatched) {
        (self.exchange, self.mock, self.unmatched) = (exchange, mock, unmatched)
        context = MockContext(call: exchange.call)
        script = rule?.script.steps
    }

    // MARK: LocalService

    func opened() { go() }

    var wantsMessage: Bool {
        guard let script else { return context.number == 0 }
        guard position < script.count, !hasUnused else { return true }
        switch script[position] {
        case .expect, .receive, .closed: return true
        default: return false
        }
    }

    func received(_ payload: Span<UInt8>) {
        context.number += 1
        context.payload = payload.array
        context.message = context.call.json(payload, .request)
        hasUnused = true
        go()
    }

    func receivedEnd() {
        isClosed = true
        go()
    }

    func resumed() { go() }

    func ended() {
        timer?.cancel()
        timer = nil
    }

    // MARK: The script

    /// Goes on as far as the script allows.
    private func go() {
        guard timer == nil, !isRunning, choose() else { return }
        isRunning = true
        defer { isRunning = false }
        while !exchange.isOver, !exchange.isPaused, timer == nil, let script {
            guard position < script.count else { return exchange.end(nil) }
            let before = position
            do throws(RPCError) {
                guard try perform(script[position]) else { break }
            } catch {
                return exchange.end(error)
            }
            if position == before { position += 1 }
        }
        // What waits may be for the step that the script has come to.
        if !exchange.isOver { exchange.schedule() }
    }

    /// Whether there is a rule, and the script can run.
    private func choose() -> Bool {
        guard script == nil else { return true }
        let isKnown = context.number > 0 || isClosed
        switch mock.choose(context.call, context.message, isKnown: isKnown, isProtoJSON: context.isProtoJSON) {
        case .rule(let rule): script = rule.script.steps
        case .message: return false
        case .none(let lack) where unmatched != .empty || context.call.rpcProtocol == .http:
            exchange.end(MockInterceptor.error(lack, mock))
            return false
        case .none: script = [.closed, .send(.json(.plain(Array("{}".utf8))))]
        }
        return true
    }

    /// Takes a step; false if it has to wait.
    private func perform(_ step: MockScript.Step) throws(RPCError) -> Bool {
        switch step {
        case .expect(let conditions):
            guard try consumeMessage(orEnd: "the request is complete") else { return false }
            let wrong = conditions.first { condition in
                context.message.map { !condition.holds(for: $0, context.isProtoJSON) } ?? true
            }
            guard let wrong else { return true }
            let problem = "message \(context.number) has another value at \(wrong.name)"
            throw RPCError(.failedPrecondition, "mock \(mock.name): \(problem)")
        case .receive(let end):
            if consumeMessage() { return true }
            guard isClosed else { return false }
            position = end
        case .goTo(let place): position = place
        case .closed:
            while consumeMessage() {}
            return isClosed
        case .wait(let time):
            timer = context.call.timer(after: time) { [unowned self] in
                timer = nil
                go()
            }
        case .headers(let fields): exchange.send(headers: fields.values(context))
        case .send(let message):
            let payload = try message.payload(context)
            exchange.send(payload.span)
        case .plain(let status, let headers, let body):
            guard context.call.rpcProtocol == .http else { return true }
            let body = body.value(context)
            exchange.respond(status: status, headers: headers.values(context), body: body.span)
        case .end(let end): exchange.end(try end.error(context), trailers: end.trailers(context))
        case .fail(let failure): exchange.fail(failure.error)
        }
        return true
    }

    /// Takes the message that has come; false if none has.
    private func consumeMessage() -> Bool {
        defer { hasUnused = false }
        return hasUnused
    }

    private func consumeMessage(orEnd problem: String) throws(RPCError) -> Bool {
        if consumeMessage() { return true }
        guard isClosed else { return false }
        throw RPCError(.failedPrecondition, "mock \(mock.name): the script expects a message, but \(problem)")
    }
}

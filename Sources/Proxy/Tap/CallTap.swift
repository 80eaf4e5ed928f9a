internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// What is shown of one call while it is under way, and kept of it so that it can be repeated.
///
/// It sees what passes between the caller and Martlet, and a copy of what goes upstream. It changes nothing. Belongs to the worker's thread.
final class CallTap {
    private var views: [TapView]
    private let formatter: TimestampFormatter
    let budget: CopyBudget
    /// How many bytes it counts for in the budget.
    private var held = 0
    private var status = 0
    private var finders: (request: MessageFinder, response: MessageFinder?)?
    private var numbers = (request: 0, response: 0)
    private var hasRequestEnded = false
    private var responseCompression = Compression.identity
    /// The form in the body of the response, or `nil` if the body is not a form.
    private var responseForm: FormBody?
    /// The body of the request as the caller has sent it, up to a bound.
    private(set) var requestBody = MessageFinder.Found()
    private(set) var requestTrailers: [RequestCopy.Field] = []
    /// What went upstream last.
    var sent: SentCopy?

    /// Begins with the head of the request.
    init(_ call: Call, _ views: [TapView], _ budget: CopyBudget, formatter: TimestampFormatter) {
        (self.views, self.budget, self.formatter) = (views, budget, formatter)
        guard !views.isEmpty else { return }
        if views.contains(where: \.tap.showsMessages) { finders = (MessageFinder(call.rpcProtocol, .request), nil) }
        show(call) { $0.describeRequest(call) }
        if let message = call.queryMessage { show(message, .request, call) }
    }

    /// Whether a reader has seen something of the call.
    var isShown: Bool { views.contains(where: \.isShown) }

    // MARK: What passes

    func received(_ body: Span<UInt8>, _ call: Call) {
        requestBody.add(body, max: budget.room(RequestCopy.maxBody))
        if !views.isEmpty {
            finders?.request.add(body, max: budget.room(MessageFinder.maxBytes)) { show($0, .request, call) }
        }
        settle()
    }

    /// Counts what is kept.
    private func settle() {
        let messages = (finders?.request.held ?? 0) + (finders?.response?.held ?? 0)
        let new = requestBody.bytes.count + messages
        budget.add(new - held)
        held = new
    }

    deinit { budget.add(-held) }

    func receivedEnd(trailers: HTTPHead?, _ call: Call) {
        guard !hasRequestEnded else { return }
        hasRequestEnded = true
        if let trailers { requestTrailers = RequestCopy.fields(trailers, call) }
        finders?.request.end(isRPC: call.rpcProtocol == .connectUnary) { show($0, .request, call) }
    }

    func sent(head: HTTPHead, _ call: Call) {
        status = head.status
        if finders != nil {
            responseCompression = head.compression(call.responseProtocol)
            responseForm = call.form(of: head)
            finders?.response = MessageFinder(call.responseProtocol, .response)
        }
        show(call) { $0.describeResponse(head, call) }
    }

    func sent(body: Span<UInt8>, _ call: Call) {
        guard finders?.response != nil, !views.isEmpty else { return }
        finders?.response?.add(body, max: budget.room(MessageFinder.maxBytes)) { show($0, .response, call) }
        settle()
    }

    func sentEnd(trailers: HTTPHead?, _ call: Call) {
        endResponse(call, isWhole: true)
        guard let trailers, trailers.count > 0 else { return }
        show(call) { $0.describeTrailers(trailers, call) }
    }

    private func endResponse(_ call: Call, isWhole: Bool) {
        let isRPC = isWhole && call.rpcProtocol.isUnaryConnect && status == 200
        finders?.response?.end(isRPC: isRPC) { show($0, .response, call) }
        finders?.response = nil
    }

    /// The call is over.
    func finished(_ call: Call) {
        if !hasRequestEnded {
            let isRPC = call.rpcProtocol == .connectUnary && call.flows.request.hasArrived
            finders?.request.end(isRPC: isRPC) { show($0, .request, call) }
        }
        endResponse(call, isWhole: call.record.code == .ok)
        showEnd(call)
    }

    // MARK: What is shown

    private func show(_ found: MessageFinder.Found, _ direction: Direction, _ call: Call) {
        let number = direction == .request ? numbers.request + 1 : numbers.response + 1
        if direction == .request { numbers.request = number } else { numbers.response = number }
        // Nothing is read for those who have no room for it.
        let ready = readers(call) { $0.tap.showsMessages && $0.hasRoom(at: call.now) }
        guard !ready.isEmpty else { return }
        let compression = direction == .request ? call.requestCompression : responseCompression
        let isError = direction == .response && call.isError(status: status)
        let form = direction == .request ? call.form(of: call.request) : responseForm
        let shown = ShownMessage(found, compression, direction, call, isError: isError, form: form)
        for view in ready {
            let max = view.tap.maxBytes
            view.append(line(call) { $0.describe(shown, number, direction, call, max: max) }, at: call.now)
        }
    }

    private func show(_ call: Call, _ describe: (inout AccessLogLine) -> Void) {
        let ready = readers(call) { !$0.isOfEndAlone && $0.hasRoom(at: call.now) }
        guard !ready.isEmpty else { return }
        let text = line(call, describe)
        for view in ready { view.append(text, at: call.now) }
    }

    private func showEnd(_ call: Call) {
        for view in readers(call, if: { _ in true }) {
            let isOfEndAlone = view.isOfEndAlone
            guard view.ends(with: call.record.code, at: call.now) else { continue }
            if isOfEndAlone { view.append(line(call) { $0.describeRequest(call) }, at: call.now) }
            view.append(line(call) { $0.describeEnd(call) }, at: call.now)
        }
    }

    private func line(_ call: Call, _ describe: (inout AccessLogLine) -> Void) -> [UInt8] {
        let queue = ByteQueue()
        var line = AccessLogLine(about: call, to: queue, formatter: formatter)
        describe(&line)
        line.end()
        let bytes = queue
        return bytes.readable.array
    }

    /// The views of those who read still, and are meant; if nobody reads, nothing more is read of the call.
    private func readers(_ call: Call, if isMeant: (TapView) -> Bool) -> [TapView] {
        views.removeAll { call.worker.taps?.has($0.handover) != true }
        return views.filter(isMeant)
    }
}

internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC
internal import Telemetry
internal import Time

/// What is shown of one call while it is under way, and kept of it so that it can be repeated.
///
/// It looks at what passes between the caller and Martlet, and changes nothing. Belongs to the worker's thread.
final class CallTap {
    /// The call as one reader sees it.
    struct View {
        let tap: Tap
        let handover: LineHandover
        /// The calls that were left out before it.
        let skipped: Int
        /// What waits for the outcome, if the reader has asked for that.
        var waiting: [[UInt8]]?

        init(_ tap: Tap, _ handover: LineHandover, skipped: Int) {
            (self.tap, self.handover, self.skipped) = (tap, handover, skipped)
            waiting = tap.condition.codes == 0 ? nil : []
        }
    }

    /// The most events of a call that wait for its outcome.
    private static let maxWaiting = 1000

    private var views: [View]
    private let formatter: TimestampFormatter
    let budget: CopyBudget
    /// How many bytes it counts for in the budget.
    private var held = 0
    private var status = 0
    private var finders: (request: MessageFinder, response: MessageFinder?)?
    private var numbers = (request: 0, response: 0)
    private var hasRequestEnded = false
    private var responseCompression = Compression.identity
    /// The body of the request as the caller has sent it, up to a bound.
    private(set) var requestBody = MessageFinder.Found()
    private(set) var requestTrailers: [RequestCopy.Field] = []
    /// What went upstream last.
    var sent: SentCopy?

    /// Begins to look, at the head of the request.
    init(_ call: Call, _ views: [View], _ budget: CopyBudget, formatter: TimestampFormatter) {
        (self.views, self.budget, self.formatter) = (views, budget, formatter)
        guard !views.isEmpty else { return }
        if views.contains(where: \.tap.showsMessages) { finders = (MessageFinder(call.rpcProtocol, .request), nil) }
        for view in views where view.skipped > 0 {
            view.handover.append(Array("{\"event\":\"skipped\",\"calls\":\(view.skipped)}\n".utf8))
        }
        show(call) { $0.describeRequest(call) }
        if call.rpcProtocol == .connectGet { showQuery(call) }
    }

    /// Shows the message of a Connect GET, which is in its query.
    private func showQuery(_ call: Call) {
        let head = call.received
        guard let message = try? ConnectQuery(head.query)?.message(in: head.query) else { return }
        var found = MessageFinder.Found(isCompressed: call.requestCompression != .identity)
        found.add(message.span, max: MessageFinder.maxBytes)
        show(found, .request, call)
    }

    /// Whether a reader sees the call, or would see it with another outcome.
    var isShown: Bool { !views.isEmpty }

    // MARK: What passes

    func received(_ body: Span<UInt8>, _ call: Call) {
        requestBody.add(body, max: budget.room(RequestCopy.maxBody))
        finders?.request.add(body, max: budget.room(MessageFinder.maxBytes)) { show($0, .request, call) }
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
            finders?.response = MessageFinder(call.responseProtocol, .response)
        }
        show(call) { $0.describeResponse(head, call) }
    }

    func sent(body: Span<UInt8>, _ call: Call) {
        guard finders != nil else { return }
        finders?.response?.add(body, max: budget.room(MessageFinder.maxBytes)) { show($0, .response, call) }
        settle()
    }

    func sentEnd(trailers: HTTPHead?, _ call: Call) {
        endResponse(call)
        guard let trailers, trailers.count > 0 else { return }
        show(call) { $0.describeTrailers(trailers, call) }
    }

    private func endResponse(_ call: Call) {
        finders?.response?.end(isRPC: false) { show($0, .response, call) }
    }

    /// The call is over.
    func finished(_ call: Call) {
        if !hasRequestEnded { finders?.request.end(isRPC: false) { show($0, .request, call) } }
        endResponse(call)
        show(call) { $0.describeEnd(call) }
        for view in views {
            guard let waiting = view.waiting, view.tap.condition.codes & 1 << UInt32(call.record.code.rawValue) != 0
            else { continue }
            for line in waiting { append(line, to: view, call) }
        }
    }

    // MARK: What is shown

    private func show(_ found: MessageFinder.Found, _ direction: Direction, _ call: Call) {
        let number = direction == .request ? numbers.request + 1 : numbers.response + 1
        if direction == .request { numbers.request = number } else { numbers.response = number }
        let compression = direction == .request ? call.requestCompression : responseCompression
        let isError = direction == .response && call.rpcProtocol.isUnaryConnect && status != 200
        let shown = ShownMessage(found, compression, direction, call, isError: isError)
        show(call, if: \.showsMessages) { line, tap in
            line.describe(shown, number, direction, call, max: tap.maxBytes)
        }
    }

    private func show(_ call: Call, _ describe: (inout AccessLogLine) -> Void) {
        show(call, if: { _ in true }) { line, _ in describe(&line) }
    }

    private func show(_ call: Call, if isMeant: (Tap) -> Bool, _ describe: (inout AccessLogLine, Tap) -> Void) {
        for index in views.indices where isMeant(views[index].tap) {
            let queue = ByteQueue()
            var line = AccessLogLine(about: call, to: queue, formatter: formatter)
            describe(&line, views[index].tap)
            line.end()
            let text = queue.readable.array
            guard let count = views[index].waiting?.count else {
                append(text, to: views[index], call)
                continue
            }
            // The last one is the end of the call.
            if count < Self.maxWaiting || call.isOver { views[index].waiting?.append(text) }
        }
    }

    private func append(_ line: [UInt8], to view: View, _ call: Call) {
        guard call.worker.taps?.has(view.handover) == true else { return }
        view.tap.spend(at: call.now)
        view.handover.append(line)
    }
}

internal import Bytes
internal import Documents
internal import HTTP
internal import Protocols
internal import Proxy
internal import RPC
internal import Time

/// What is written of one call: its steps, in the order in which they were seen.
///
/// Belongs to the worker's thread.
final class RecordedCall {
    private struct Step {
        let isResponse: Bool
        /// The key and the value.
        let text: [UInt8]
        let time: Duration
        /// Whether it ends the call: who has decided on that is written there.
        var isEnd = false
    }

    /// A body of plain HTTP, up to the longest that is written.
    private struct Body {
        private(set) var bytes: [UInt8] = []
        private(set) var count = 0

        /// Takes more of it, if there is room.
        ///
        /// - Returns: by how many bytes more, or fewer, are held.
        mutating func append(_ more: Span<UInt8>, max: Int) -> Int {
            let before = bytes.count
            // One that has lost something stays without it.
            if before == count, count + more.count <= max { bytes += more.array } else { bytes = [] }
            count += more.count
            return bytes.count - before
        }
    }

    /// A reader makes no more values of a document.
    private static let maxNodes = 150_000
    /// Headers that say nothing about a call, or that are another each time.
    private static let noise: Set<String> = [
        "date", "traceparent", "tracestate", "x-request-id", "user-agent", "accept-encoding", "proxy-status",
    ]

    private let form: RecordForm
    private let budget: RecordBudget
    private let wall: WallTime
    private let head: [UInt8]
    private var steps: [Step] = []
    private var (requestBody, responseBody) = (Body(), Body())
    /// The head of a response of plain HTTP.
    private var plainHead: RecordedHead?
    private var (size, nodes) = (0, 0)
    /// How many bytes of bodies are held beside the steps.
    private var bodySize = 0
    private var lack: String?
    /// What lacks of the response that was seen last.
    private var responseLack: String?
    /// What of both is of the response.
    private var (responseSize, responseNodes) = (0, 0)
    private var (isRequestCut, isResponseCut) = (false, false)
    /// Whether something was too long.
    var isCut: Bool { isRequestCut || isResponseCut }
    /// Whether the head of a response has come, which that of a retry may follow.
    private var hasHead = false
    /// The number of the attempt that the recorded response is from.
    private var responseAttempt = 0
    private var hasEnded = false
    /// Whether the end was made here, and not by what has served the call.
    private var isOwnEnd = false

    /// Begins with the head of a request.
    init(_ call: Call, at wall: WallTime, _ form: RecordForm, _ budget: RecordBudget) {
        (self.form, self.wall, self.budget) = (form, wall, budget)
        let request = call.request
        let queue = ByteQueue()
        queue.append("---\ncall: ")
        let name = call.fullName
        let shown = call.shownName
        let written = form.scrub.text(shown) ?? "\(Redactions.mask)"
        queue.append(yaml: written)
        queue.append(text: "\nprotocol: \(call.protocolName)\n")
        if call.rpcProtocol != .http, call.codec != .other {
            queue.append(call.codec == .proto ? "codec: proto\n" : "codec: json\n")
        }
        let fields = form.fields(request, isTemplate: false, call) { !Self.noise.contains($0) && !Self.isOwned($0) }
        if !fields.span.equals("{}") {
            head = queue.readable.array + Array("request: { headers: ".utf8) + fields + Array(" }\n".utf8)
        } else {
            head = queue.readable.array
        }
        size = head.count
        budget.held += size
        if written != shown { lack = "a path that may not be shown" }
        if name.contains(0) { lack = "a path with a NUL character" }
    }

    deinit { budget.held -= size + bodySize }

    // MARK: The request

    func received(_ payload: Span<UInt8>, _ message: Message, _ call: Call) {
        add("expect", form.message(payload, message, call), call)
    }

    func requestEnded(_ call: Call) {
        if requestBody.count > 0 {
            let isJSON = call.request.hasJSON
            add("expect", form.body(requestBody.bytes, count: requestBody.count, isJSON: isJSON, call), call)
            hold(-requestBody.bytes.count)
            requestBody = Body()
        }
        add("closed", RecordForm.Text(yaml: Array("true".utf8)), call)
    }

    /// Bytes of plain HTTP have passed.
    func passed(_ bytes: Span<UInt8>, _ direction: Direction) {
        let hasRoom = budget.held + bytes.count <= RecordBudget.limit
        let max = hasRoom ? form.maxMessage : 0
        hold(direction == .request ? requestBody.append(bytes, max: max) : responseBody.append(bytes, max: max))
    }

    /// More bytes of bodies are held, or fewer.
    private func hold(_ count: Int) {
        bodySize += count
        budget.held += count
    }

    // MARK: The response

    /// Discards the recorded part of an earlier attempt's response.
    private func beginResponse(_ call: Call) {
        let attempt = call.currentAttempt
        defer { responseAttempt = attempt }
        guard hasHead || hasEnded || responseAttempt != attempt else { return }
        steps.removeAll { $0.isResponse }
        (size, nodes) = (size - responseSize, nodes - responseNodes)
        budget.held -= responseSize
        (responseSize, responseNodes) = (0, 0)
        hold(-responseBody.bytes.count)
        (responseBody, hasHead, hasEnded, responseLack, isResponseCut) = (Body(), false, false, nil, false)
    }

    /// Adds an interim response, which comes before the head.
    func responded(interim head: HTTPHead, _ call: Call) {
        beginResponse(call)
        let headers = form.fields(head, isTemplate: true, call) { !Self.noise.contains($0) && !Self.isOwned($0) }
        var yaml = Array("{ status: \(head.status)".utf8)
        if !headers.span.equals("{}") { yaml += Array(", headers: ".utf8) + headers }
        add("interim", RecordForm.Text(yaml: yaml + Array(" }".utf8)), call, isResponse: true)
    }

    func responded(_ head: HTTPHead, _ call: Call) {
        beginResponse(call)
        hasHead = true
        if call.rpcProtocol == .http {
            let headers = form.fields(head, isTemplate: true, call) {
                !Self.noise.contains($0) && ($0 == "content-type" || !Self.isOwned($0))
            }
            let request = call.request
            plainHead = RecordedHead(
                head,
                headers,
                isHEAD: request.method.equals("HEAD"),
                isJSON: head.hasJSON,
                form: call.form(of: head)
            )
        } else if !call.rpcProtocol.hasEnvelopes || !call.responseHasOneBody {
            let headers = form.fields(head, isTemplate: true, call) { !Self.noise.contains($0) && !Self.isOwned($0) }
            guard !headers.span.equals("{}") else { return }
            add("headers", RecordForm.Text(yaml: headers), call, isResponse: true)
        }
    }

    func sent(_ payload: Span<UInt8>, _ message: Message, _ call: Call) {
        add("send", form.message(payload, message, call), call, isResponse: true)
    }

    func responseEnded(_ end: ResponseEnd, _ call: Call) {
        if !hasHead { beginResponse(call) }
        hasEnded = true
        isOwnEnd = call.hasOwnError
        guard call.rpcProtocol != .http else { return endPlain(isBroken: end.breaksOff && !call.hasOwnError, call) }
        let trailers = form.fields(end.trailers, isTemplate: true, call) {
            !Self.noise.contains($0) && !Self.isOwned($0)
        }
        add("end", form.end(end.error, trailers: trailers, call), call, isResponse: true, isEnd: true)
    }

    private func endPlain(isBroken: Bool, _ call: Call) {
        guard let plainHead, !isBroken else {
            return add("reset", RecordForm.Text(yaml: Array("true".utf8)), call, isResponse: true, isEnd: true)
        }
        let body = responseBody
        guard body.bytes.count == body.count, !plainHead.isBare, plainHead.isCompressed else {
            let text = form.respond(plainHead.described, body.bytes, count: body.count, isCompressed: false, call)
            return add("respond", text, call, isResponse: true, isEnd: true)
        }
        let text = plainHead.decompressed(body.bytes, form, call)
        add("respond", text, call, isResponse: true, isEnd: true)
    }

    private func add(
        _ key: String,
        _ text: RecordForm.Text,
        _ call: Call,
        isResponse: Bool = false,
        isEnd: Bool = false
    ) {
        if isResponse { responseLack = responseLack ?? text.lack } else { lack = lack ?? text.lack }
        if text.isCut { noteCut(isResponse) }
        let count = text.yaml.count + 40
        if !isEnd, size + count > form.maxDocument || nodes + text.nodes > Self.maxNodes {
            noteCut(isResponse)
            let problem = "a call of more than \(form.maxDocument) bytes"
            if isResponse { responseLack = responseLack ?? problem } else { lack = lack ?? problem }
            return
        }
        if isResponse { (responseSize, responseNodes) = (responseSize + count, responseNodes + text.nodes) }
        guard isEnd || budget.held + count <= RecordBudget.limit else {
            noteCut(isResponse)
            lack = lack ?? "too many calls were recorded at once"
            return
        }
        budget.held += count
        (size, nodes) = (size + count, nodes + text.nodes)
        let step = Array("\(key): ".utf8) + text.yaml
        steps.append(Step(isResponse: isResponse, text: step, time: call.now - call.startTime, isEnd: isEnd))
    }

    private func noteCut(_ isResponse: Bool) {
        if isResponse { isResponseCut = true } else { isRequestCut = true }
    }

    // MARK: The document

    /// The document, once the call is over.
    func document(_ call: Call) -> [UInt8] {
        let decider = call.decidedBy
        let isCanceled = decider == "caller"
        if !hasEnded, !isCanceled { endUnseen(call) }
        let isOwnEnd = isOwnEnd || !hasEnded || decider == "martlet"
        let queue = ByteQueue()
        queue.append(head)
        let microseconds = wall.secondsAndNanoseconds.nanoseconds / 1000 % 1000
        let digits = String(1000 + microseconds).dropFirst()
        queue.append(text: "started: \"\(TimestampFormatter.text(wall).dropLast())\(digits)Z\"\n")
        queue.append(text: "took: \(Self.text(call.duration))\n")
        if isCanceled { queue.append("canceled: true\n") }
        if let lack = lack ?? responseLack {
            queue.append("incomplete: ")
            queue.append(quotedYAML: lack)
            queue.append("\n")
        }
        queue.append(steps.isEmpty ? "script: []\n" : "script:\n")
        for step in steps {
            queue.append("  - ")
            queue.append(step.text)
            if step.isEnd, isOwnEnd, !isCanceled, let decider {
                queue.append("\n    by: ")
                queue.append(quotedYAML: decider)
            }
            queue.append(text: "\n    at: \(Self.text(step.time))\n")
        }
        queue.append("...\n")
        return queue.readable.array
    }

    /// The call has ended without an end that was seen here.
    private func endUnseen(_ call: Call) {
        if !hasHead { beginResponse(call) }
        // One that was made here has not come by, and plain HTTP tells it in the same way.
        guard call.rpcProtocol != .http || call.hasOwnError && plainHead == nil else {
            return endPlain(isBroken: call.code != .ok, call)
        }
        let error = call.code == .ok ? nil : RPCError(call.code, call.message)
        let end = form.end(error, trailers: Array("{}".utf8), call)
        add("end", end, call, isResponse: true, isEnd: true)
    }

    /// A duration in milliseconds, or in microseconds if it has a part of one.
    private static func text(_ duration: Duration) -> String {
        let microseconds = max(0, duration.microseconds)
        return microseconds % 1000 == 0 ? "\(microseconds / 1000)ms" : "\(microseconds)us"
    }

    private static func isOwned(_ name: String) -> Bool { name == ":authority" || HeaderName.isOwned(name) }
}

extension HTTPHead {
    /// Whether the body is JSON.
    fileprivate var hasJSON: Bool {
        guard let index = first(.contentType) else { return false }
        let type = value(at: index).string.lowercased().split(separator: ";").first ?? ""
        return type.hasSuffix("/json") || type.hasSuffix("+json")
    }
}

internal import Bytes
internal import Configuration
internal import Credentials
internal import Documents
internal import Events
private import Glibc
internal import HTTP
internal import Protocols
internal import RPC
internal import Time
internal import Types

/// What a configuration does with a request, without a network: its route and chain, what each interceptor says, and the
/// head that would go upstream, or the response.
package struct Explanation {
    /// The explanation for people, line by line.
    ///
    /// Secrets are not in it.
    package private(set) var lines: [String] = []

    /// How long interceptors may wait for something.
    private static let patience = 10 * Duration.second

    private let call: Call
    private let stream: ExplainedStream
    private let settings: Settings

    /// Explains a request.
    ///
    /// - Parameters:
    ///   - request: what a caller would send to the first listener.
    ///   - plan: the configuration.
    ///   - tokens: the tokens that files have, by path.
    package init(of request: RehearsedRequest, by plan: Plan, tokens: [String: [UInt8]?]) {
        let settings = plan.settings
        let loop = EventLoop()
        let credentialRequests = OrdersInVain()
        let worker = Worker(
            loop: loop,
            lineWriters: nil,
            network: SystemNetwork(),
            destination: Destination.rehearsal,
            credentialRequests: { credentialRequests.handle($0) }
        )
        credentialRequests.worker = worker
        worker.use(plan, number: 1, routes: RouteTable(settings.routes), tokens: tokens)
        let listener = CallerService(settings.listeners[0], name: "\(settings.listeners[0].address)", worker: worker)
        let entered = EnteredCall(request, listener, plan)
        (call, stream, self.settings) = (entered.call, entered.stream, settings)
        var described: Explanation?
        // While the call is there: its head and its trace go with it.
        stream.ended = { [self] in described = described ?? self.describing() }
        entered.send(request)
        wait(on: loop)
        lines = (described ?? describing()).lines
        stream.ended = {}
        call.finish(code: .canceled, by: .caller)
    }

    /// Explains what a call has come to.
    init(of entered: EnteredCall, by settings: Settings) {
        (call, stream, self.settings) = (entered.call, entered.stream, settings)
        describe()
    }

    private func wait(on loop: EventLoop) {
        var isLate = false
        let timer = Timer(on: loop.timers) { isLate = true }
        timer.arm(after: Self.patience)
        while !call.isOver, !call.upstreamLeg.isForwarded, !isLate { loop.turn() }
        timer.cancel()
    }

    // MARK: In words

    private func describing() -> Explanation {
        var copy = self
        copy.describe()
        return copy
    }

    private mutating func describe() {
        let rpcProtocol = call.protocolName
        lines.append("protocol  \(rpcProtocol)")
        lines.append("route     \(routeName)")
        lines.append("chain")
        let width = call.run.chain.links.map(\.name.count).max() ?? 0
        for index in call.run.chain.links.indices {
            for (line, text) in actions(of: index).enumerated() {
                let name = line == 0 ? call.run.chain.links[index].name : ""
                lines.append("  \(name.padding(to: width))  \(text)")
            }
        }
        if stream.status > 0 || stream.wasReset {
            describeResponse()
        } else if call.upstreamLeg.isForwarded {
            describeRequest()
        } else {
            lines.append("waits     more than \(Self.patience / .second) s for an interceptor")
        }
    }

    private var routeName: String {
        guard let number = call.routeNumber else { return "no route matches" }
        let route = settings.routes[number]
        let name = route.name.map { "\($0.text) (\(number))" } ?? "\(number)"
        return "\(name), chain \(route.chain ?? "interceptors")"
    }

    /// What an interceptor has done, a line for each event.
    private func actions(of index: Int) -> [String] {
        guard call.run.hasEntered(index) else {
            if index > call.run.reached || index >= call.run.end { return ["not reached"] }
            let isShape = call.run.chain.links[index].shapes.contains(call.shape)
            return ["does not apply: \(isShape ? "when" : "applies")"]
        }
        let notes = call.trace?.notes.filter { $0.index == index } ?? []
        let texts = notes.map { note in
            let changes = call.trace?.changes(of: note, in: call.request) ?? []
            let time = note.time.map { " (\(Double($0.nanoseconds / 1000) / 1000) ms)" } ?? ""
            let list = changes.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
            return "\(note.event.rawValue): \(note.verdict.rawValue)\(list.isEmpty ? "" : ", \(list)")\(time)"
        }
        return texts.isEmpty ? ["next"] : texts
    }

    private mutating func describeRequest() {
        call.completeHead()
        let request = call.isTranslated ? translatedRequest : call.request
        if let upstream = call.route.upstream {
            let (name, url) = (upstream.settings.name, upstream.settings.url)
            guard !call.upstreamLeg.isServed else {
                return lines.append("upstream  served in this process by \(name)")
            }
            lines.append("upstream  \(name), \(url)")
        }
        if let text = call.translationText { lines.append("  translated \(text)") }
        lines.append("  \(request.method.string) \(call.shownTarget(request))")
        if request.authority.count > 0 { lines.append("  host: \(request.authority.string)") }
        describe(request.pairs)
        if request.acceptsTrailers { lines.append("  te: trailers") }
        describeDefaults()
    }

    /// The head of the request as the upstream gets it.
    private var translatedRequest: HTTPHead {
        let (head, spoken) = (HTTPHead(), call.upstreamLeg.spoken)
        _ = head.translate(call.request, from: call.rpcProtocol, to: spoken)
        if let conversion = call.upstreamLeg.conversion { head.convert(to: conversion.codec, in: spoken) }
        return head
    }

    /// What the upstream's settings add; only the names, as the values may be secret.
    private mutating func describeDefaults() {
        guard let settings = call.route.upstream?.settings.defaults else { return }
        let headers = settings.headers.filter { call.request.first(FieldName($0.name)) == nil }.map(\.name)
        let names = headers + settings.query.map { "?\($0.name)=" }
        if !names.isEmpty { lines.append("  and, if missing: \(names.joined(separator: ", "))") }
    }

    private mutating func describeResponse() {
        let decider =
            switch call.record.decider {
            case .interceptor(let name): "interceptor \(name)"
            case .upstream where stream.status > 0: "upstream \(call.upstreamName ?? "")"
            default: "martlet"
            }
        guard !stream.wasReset else { return lines.append("response  reset by \(decider)") }
        lines.append("response  by \(decider)")
        lines.append("  \(stream.status)")
        describe(stream.fields)
        if call.rpcProtocol.hasEnvelopes, call.callerLeg.rest == nil {
            for envelope in ExplainedStream.envelopes(in: stream.body) {
                lines.append("  \(shown(envelope.payload, isMessage: envelope.flags & 0x82 == 0))")
            }
        } else if !stream.body.isEmpty {
            lines.append("  \(shown(stream.body))")
        }
        describe(stream.trailers)
    }

    /// A body as people may see it.
    private func shown(_ body: [UInt8], isMessage: Bool = true) -> String {
        let redactions = call.run.chain.redactions
        var body = body
        // A successful response in Protobuf is its ProtoJSON for people.
        if isMessage, call.codec == .proto, call.hasMessageTypes, stream.status == 200 {
            body = call.json(body.span, .response)?.bytes ?? body
        }
        let plain = redactions.hasPointers ? redactions.masked(body.span) : body
        guard let plain else { return "\(Redactions.mask)" }
        let text = String(validating: plain, as: UTF8.self)
        let isText = text?.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" || $0 == "\t" } ?? false
        return isText ? text ?? "" : "(\(plain.count) bytes)"
    }

    private mutating func describe(_ fields: [(name: [UInt8], value: [UInt8])]) {
        let mask = CallMask(call)
        for (name, value) in fields {
            let shown = String(decoding: mask.value(value.span, ofField: name.span), as: UTF8.self)
            lines.append("  \(String(decoding: name, as: UTF8.self)): \(shown)")
        }
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}

/// Responds to a worker that orders credentials with one that stands for them: nothing is fetched to explain a call.
private final class OrdersInVain {
    weak var worker: Worker?

    func handle(_ order: CredentialRequest) {
        guard case .fetch(let source) = order else { return }
        worker?.update(source, CredentialState(Credential(value: Array("***".utf8)), at: .start, .epoch))
    }
}

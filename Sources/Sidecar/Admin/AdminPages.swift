internal import Bytes
internal import Configuration
internal import Documents
internal import HTTP
internal import Proxy
internal import RPC
internal import Telemetry

/// What is asked of the admin socket.
struct AdminRequest {
    let method: String
    let path: String
    /// Whether a web page may be behind it: a browser says where the page is from, and one that was given another name
    /// for this address (DNS rebinding) says that name.
    let isFromBrowser: Bool

    init(_ head: HTTPHead, isOverTCP: Bool) {
        method = head.method.string
        path = head.path.string
        let isForeign = isOverTCP && !Self.isLoopback(head.authority.string)
        isFromBrowser = isForeign || ["origin", "sec-fetch-site"].contains { head.first(FieldName($0)) != nil }
    }

    private static func isLoopback(_ authority: String) -> Bool {
        let isBracketed = authority.hasPrefix("[")
        let end = isBracketed ? authority.firstIndex(of: "]") : authority.lastIndex(of: ":")
        let host = authority[..<(end ?? authority.endIndex)].drop { $0 == "[" }
        return host == "localhost" || IPAddress(String(host))?.isLoopback == true
    }
}

/// What the admin socket answers.
struct AdminAnswer {
    var status = 200
    var contentType = "text/plain; charset=utf-8"
    var body: [UInt8] = []
    var allow: String?

    static func text(_ text: String, status: Int = 200) -> AdminAnswer {
        AdminAnswer(status: status, body: Array((text + "\n").utf8))
    }

    static func json(_ queue: ByteQueue) -> AdminAnswer {
        AdminAnswer(contentType: "application/json", body: queue.readable.array + [UInt8(ascii: "\n")])
    }
}

/// The pages of the admin socket.
///
/// GET changes nothing; what changes something is POST.
final class AdminPages {
    private let daemon: Daemon

    init(_ daemon: Daemon) {
        self.daemon = daemon
    }

    /// Answers a request, now or when the workers have said what is needed.
    func answer(_ request: AdminRequest, _ answer: @escaping (AdminAnswer) -> Void) {
        guard !request.isFromBrowser else { return answer(.text("not for web pages", status: 403)) }
        let page: (method: String, make: (@escaping (AdminAnswer) -> Void) -> Void)? =
            switch request.path {
            case "/healthz", "/live": ("GET", { $0(.text("ok")) })
            case "/readyz", "/ready": ("GET", readyz)
            case "/metrics": ("GET", metrics)
            case "/config": ("GET", config)
            case "/status": ("GET", status)
            case "/calls/recent": ("GET", recentCalls)
            case "/credentials": ("GET", credentials)
            case "/reload": ("POST", reload)
            case "/drain": ("POST", drain)
            default: nil
            }
        guard let page else { return answer(.text("no such page", status: 404)) }
        guard request.method == page.method || request.method == "HEAD" && page.method == "GET" else {
            var refusal = AdminAnswer.text("\(request.path) takes \(page.method)", status: 405)
            refusal.allow = page.method
            return answer(refusal)
        }
        page.make(answer)
    }

    private func readyz(_ answer: (AdminAnswer) -> Void) {
        guard !daemon.isDraining else { return answer(.text("draining", status: 503)) }
        let missing = daemon.missingCredentials
        guard missing.isEmpty else {
            return answer(.text("no credential: \(missing.joined(separator: ", "))", status: 503))
        }
        answer(.text("ready"))
    }

    private func metrics(_ answer: @escaping (AdminAnswer) -> Void) {
        daemon.ask { [daemon] report in
            let queue = ByteQueue()
            let text = PrometheusText(to: queue)
            text.append(report.counters.families(codeNames: RPCCode.allCases.map(\.name)))
            text.append(Self.families(of: daemon, report))
            text.append(ProcessMetrics.families)
            answer(AdminAnswer(contentType: "\(PrometheusText.contentType)", body: queue.readable.array))
        }
    }

    /// The calls that ended last, whichever worker had them, newest first.
    private func recentCalls(_ answer: @escaping (AdminAnswer) -> Void) {
        daemon.workers?.ask({ $0.recentCalls }) { calls in
            let queue = ByteQueue()
            queue.append("{\"calls\":[")
            for (index, call) in calls.flatMap({ $0 }).sorted(by: { $0.time > $1.time }).enumerated() {
                queue.append(index == 0 ? "\n" : ",\n")
                // Each is a line.
                queue.append(call.text.span.extracting(0..<call.text.count - 1))
            }
            queue.append("]}")
            answer(.json(queue))
        }
    }

    private static func families(of daemon: Daemon, _ report: Report) -> [MetricFamily] {
        let reloads = daemon.reloads
        return [
            MetricFamily(
                .upstreamInsecure,
                (daemon.settings?.upstreams ?? []).compactMap { upstream in
                    upstream.tls.map { MetricSample([upstream.name], .number($0.isInsecure ? 1 : 0)) }
                }
            ),
            MetricFamily(.certificateExpiry, daemon.certificateSamples { .number($0.tls.expires) }),
            MetricFamily(
                .certificateReloadSuccessful,
                daemon.certificateSamples { .number($0.problem == nil ? 1 : 0) }
            ),
        ] + daemon.credentialFamilies + [
            MetricFamily(.buildInfo, .number(1), labels: [Version.number]),
            MetricFamily(.configGeneration, .number(reloads.generation)),
            MetricFamily(.configGenerationsLive, .number(report.liveGenerations)),
            MetricFamily(
                .configReloads,
                [
                    MetricSample(["success"], .number(reloads.successes)),
                    MetricSample(["failure"], .number(reloads.refusals)),
                ]
            ),
            MetricFamily(.configReloadSuccessful, .number(reloads.lastRefusal == nil ? 1 : 0)),
            MetricFamily(.configReloadTime, .nanoseconds(Int(reloads.lastSuccess))),
        ]
    }

    private func credentials(_ answer: (AdminAnswer) -> Void) {
        let queue = ByteQueue()
        queue.append("{\"credentials\":[")
        for (index, report) in daemon.credentialReports.enumerated() {
            queue.append(index == 0 ? "\n" : ",\n")
            report.append(to: queue)
        }
        queue.append("]}")
        answer(.json(queue))
    }

    private func config(_ answer: (AdminAnswer) -> Void) {
        let queue = ByteQueue()
        queue.append("{\"generation\":")
        queue.append(decimal: daemon.reloads.generation)
        queue.append(",\"file\":")
        queue.append(json: daemon.file.name)
        queue.append(",\"config\":")
        if let settings = daemon.settings { queue.append(json: settings.rendered) } else { queue.append("null") }
        queue.append("}")
        answer(.json(queue))
    }

    private func status(_ answer: @escaping (AdminAnswer) -> Void) {
        daemon.ask { [daemon] report in
            answer(
                .text(
                    """
                    martlet \(Version.number)
                    state: \(daemon.isDraining ? "draining" : "serving")
                    file: \(daemon.file.name)
                    generation: \(daemon.reloads.generation)
                    last reload: \(daemon.reloads.lastOutcome)
                    connections: \(report.connections)
                    calls in flight: \(report.counters.inFlight)
                    """ + daemon.certificateLines
                )
            )
        }
    }

    private func reload(_ answer: @escaping (AdminAnswer) -> Void) {
        daemon.reload { result in
            switch result {
            case .success(let generation):
                let queue = ByteQueue()
                queue.append("{\"generation\":")
                queue.append(decimal: generation)
                queue.append("}")
                answer(.json(queue))
            case .failure(let refusal):
                answer(.text(refusal.lines.joined(separator: "\n"), status: 422))
            }
        }
    }

    private func drain(_ answer: (AdminAnswer) -> Void) {
        answer(.text("draining", status: 202))
        daemon.drain()
    }
}

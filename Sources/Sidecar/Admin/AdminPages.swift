internal import Bytes
internal import Configuration
internal import Documents
internal import HTTP
internal import Proxy
internal import RPC
internal import Telemetry
internal import Time

/// The pages of the admin socket.
///
/// GET changes nothing; what changes something is POST.
final class AdminPages {
    private let daemon: Daemon
    /// Those that are served.
    private let pages: Set<AdminPage>

    init(_ daemon: Daemon, _ pages: Set<AdminPage>) {
        self.daemon = daemon
        self.pages = pages
    }

    /// Responds to a request, now or when the workers have said what is needed.
    func respond(to request: AdminRequest, _ respond: @escaping (AdminResponse) -> Void) {
        guard !request.isFromBrowser else {
            return respond(.text("requests from web pages are not allowed", status: 403))
        }
        if request.path == "/" { return respond(.text(index)) }
        guard let page = AdminPage(path: request.path), pages.contains(page) else {
            return respond(.text("page not found; GET / lists the pages", status: 404))
        }
        let method = page.changesSomething ? "POST" : "GET"
        guard request.method == method || request.method == "HEAD" && method == "GET" else {
            var rejection = AdminResponse.text("\(request.path) requires \(method)", status: 405)
            rejection.allow = method
            return respond(rejection)
        }
        switch page {
        case .healthz: healthz(respond)
        case .readyz: readyz(respond)
        case .metrics: metrics(respond)
        case .status: status(respond)
        case .config: config(respond)
        case .calls: recentCalls(respond)
        case .credentials: credentials(respond)
        case .reload: reload(respond)
        case .drain: drain(respond)
        }
    }

    /// The pages that there are, a line each.
    private var index: String {
        AdminPage.allCases.filter(pages.contains).map { "\($0.changesSomething ? "POST" : "GET ") \($0.path)" }
            .joined(separator: "\n")
    }

    private func healthz(_ respond: (AdminResponse) -> Void) {
        if let problem = daemon.healthProblem { return respond(.text(problem, status: 503)) }
        respond(.text("ok"))
    }

    private func readyz(_ respond: (AdminResponse) -> Void) {
        let readiness = daemon.readiness
        respond(.text(readiness.text, status: readiness.isReady ? 200 : 503))
    }

    private func metrics(_ respond: @escaping (AdminResponse) -> Void) {
        daemon.ask { [daemon] report in
            let queue = ByteQueue()
            let text = PrometheusText(to: queue)
            text.append(report.counters.families(codeNames: RPCCode.allCases.map(\.name)))
            text.append(Self.families(of: daemon, report))
            text.append(ProcessMetrics.families)
            respond(AdminResponse(contentType: "\(PrometheusText.contentType)", body: queue.readable.array))
        }
    }

    /// The calls that ended last, whichever worker had them, newest first.
    private func recentCalls(_ respond: @escaping (AdminResponse) -> Void) {
        daemon.workers?.ask({ $0.recentCalls }) { calls in
            let queue = ByteQueue()
            queue.append("{\"calls\":[")
            for (index, call) in calls.values.flatMap({ $0 }).sorted(by: { $0.time > $1.time }).enumerated() {
                queue.append(index == 0 ? "\n" : ",\n")
                // Each is a line.
                queue.append(call.text.span.extracting(0..<call.text.count - 1))
            }
            queue.append("]}")
            respond(.json(queue))
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
        ] + daemon.credentialFamilies + daemon.budgets.families + [
            MetricFamily(.buildInfo, .number(1), labels: [Version.number]),
            MetricFamily(.ready, .number(daemon.readiness.isReady ? 1 : 0)),
            MetricFamily(.configGeneration, .number(reloads.generation)),
            MetricFamily(.configGenerationsLive, .number(report.liveGenerations)),
            MetricFamily(
                .configReloads,
                [
                    MetricSample(["success"], .number(reloads.successes)),
                    MetricSample(["error"], .number(reloads.rejections)),
                ]
            ),
            MetricFamily(.configReloadSuccessful, .number(reloads.lastRejection == nil ? 1 : 0)),
            MetricFamily(.configReloadTime, .nanoseconds(Int(reloads.lastSuccess.nanoseconds))),
        ]
    }

    private func credentials(_ respond: (AdminResponse) -> Void) {
        let queue = ByteQueue()
        queue.append("{\"credentials\":[")
        for (index, report) in daemon.credentialReports.enumerated() {
            queue.append(index == 0 ? "\n" : ",\n")
            report.append(to: queue)
        }
        queue.append("]}")
        respond(.json(queue))
    }

    private func config(_ respond: (AdminResponse) -> Void) {
        let queue = ByteQueue()
        queue.append("{\"generation\":")
        queue.append(decimal: daemon.reloads.generation)
        queue.append(",\"file\":")
        queue.append(json: daemon.file.name)
        queue.append(",\"config\":")
        if let settings = daemon.settings { queue.append(json: settings.rendered) } else { queue.append("null") }
        queue.append("}")
        respond(.json(queue))
    }

    private func status(_ respond: @escaping (AdminResponse) -> Void) {
        daemon.ask { [daemon] report in respond(.text(StatusPage(daemon, report).text)) }
    }

    private func reload(_ respond: @escaping (AdminResponse) -> Void) {
        daemon.reload { [daemon] result in
            switch result {
            case .success(let generation):
                let queue = ByteQueue()
                queue.append("{\"generation\":")
                queue.append(decimal: generation)
                let keys = daemon.reloads.needsRestart
                for (index, key) in keys.enumerated() {
                    queue.append(index == 0 ? ",\"needs_restart\":[" : ",")
                    queue.append(json: key)
                }
                queue.append(keys.isEmpty ? "}" : "]}")
                respond(.json(queue))
            case .failure(let rejection):
                respond(.text(rejection.lines.joined(separator: "\n"), status: 422))
            }
        }
    }

    private func drain(_ respond: (AdminResponse) -> Void) {
        respond(.text("draining", status: 202))
        daemon.drain()
    }
}

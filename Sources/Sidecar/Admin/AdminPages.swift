internal import Bytes
internal import Configuration
internal import Documents
internal import HTTP
internal import Proxy
internal import RPC
internal import Telemetry
internal import Time

/// The pages of the admin socket: what `AdminRoute.all` lists.
final class AdminPages {
    let daemon: Daemon
    /// Those that are served.
    private let pages: Set<AdminPage>

    init(_ daemon: Daemon, _ pages: Set<AdminPage>) {
        self.daemon = daemon
        self.pages = pages
    }

    /// Responds to a request, now or when the workers have said what is needed.
    func respond(to request: AdminRequest, _ respond: @escaping (AdminResponse) -> Void) {
        if let error = request.originError { return respond(.text(error, status: 403)) }
        do throws(AdminRoute.Rejection) {
            try AdminRoute.route(request, among: pages).handle(self, request, respond)
        } catch {
            respond(.whole(error.response))
        }
    }

    /// The dashboard for a browser, and the list of pages for everybody else.
    func index(_ request: AdminRequest, _ respond: (AdminResponse) -> Void) {
        guard !request.acceptsHTML || !pages.contains(.dashboard) else { return respond(DashboardFile.page.response) }
        respond(.whole(.init(text: AdminRoute.index(pages), .init("vary", "accept"))))
    }

    func healthz(_ respond: (AdminResponse) -> Void) {
        if let problem = daemon.healthProblem { return respond(.text(problem, status: 503)) }
        respond(.text("ok"))
    }

    func readyz(_ respond: (AdminResponse) -> Void) {
        let readiness = daemon.readiness
        respond(.text(readiness.text, status: readiness.isReady ? 200 : 503))
    }

    func metrics(_ request: AdminRequest, _ respond: @escaping (AdminResponse) -> Void) {
        let format = request.metricFormat
        daemon.ask { [daemon] report in
            let queue = ByteQueue()
            let text = PrometheusText(to: queue, format)
            text.append(daemon.families(report))
            text.finish()
            respond(.whole(.init(contentType: "\(format.contentType)", body: queue.readable.array)))
        }
    }

    /// The calls that ended last, whichever worker had them, newest first; or those and all that follow, as a stream.
    func recentCalls(_ request: AdminRequest, _ respond: @escaping (AdminResponse) -> Void) {
        switch request.query?["follow"] ?? "false" {
        case "true": respond(.stream(follow))
        case "false": respondWithRecentCalls(respond)
        case let value:
            let advice = "write follow=true or follow=false"
            respond(.text("\(Diagnostic.quote(value)) is not true or false; \(advice)", status: 400))
        }
    }

    private func follow(_ lines: LineStream) {
        guard let workers = daemon.workers else { return lines.end() }
        lines.onEnd = workers.subscribe(to: .recentCalls) { [unowned lines] in lines.append($0) }
    }

    func activeCalls(_ respond: @escaping (AdminResponse) -> Void) {
        daemon.workers?.ask({ $0.activeCalls }) { calls in
            respond(Self.page(calls.values.flatMap { $0 }.sorted { $0.time < $1.time }.map(\.text)))
        }
    }

    /// A page of calls, each of which is a line.
    private static func page(_ calls: [[UInt8]]) -> AdminResponse {
        let queue = ByteQueue()
        var json = JSONWriter(to: queue)
        json.beginArray("calls")
        for call in calls { json.item(json: call.span.extracting(0..<call.count - 1), onNewLine: true) }
        json.endArray()
        json.end()
        return .json(queue)
    }

    private func respondWithRecentCalls(_ respond: @escaping (AdminResponse) -> Void) {
        daemon.workers?.ask({ $0.recentCalls }) { calls in
            respond(Self.page(calls.values.flatMap { $0 }.sorted { $0.time > $1.time }.map(\.text)))
        }
    }

    func credentials(_ respond: (AdminResponse) -> Void) {
        let queue = ByteQueue()
        var json = JSONWriter(to: queue)
        json.beginArray("credentials")
        for report in daemon.credentialReports {
            json.beginItem(onNewLine: true)
            report.write(to: &json)
            json.endObject()
        }
        json.endArray()
        json.end()
        respond(.json(queue))
    }

    func config(_ respond: (AdminResponse) -> Void) {
        let queue = ByteQueue()
        var json = JSONWriter(to: queue)
        json.field("generation", number: daemon.reloads.generation)
        json.field("file", string: daemon.file.name)
        if let settings = daemon.settings {
            json.field("config") { $0.append(json: settings.rendered) }
        } else {
            json.null("config")
        }
        json.end()
        respond(.json(queue))
    }

    func status(_ respond: @escaping (AdminResponse) -> Void) {
        daemon.ask { [daemon] report in respond(.text(StatusPage(daemon, report).text)) }
    }

    func reload(_ respond: @escaping (AdminResponse) -> Void) {
        daemon.reload { [daemon] result in
            switch result {
            case .success(let generation):
                let queue = ByteQueue()
                var json = JSONWriter(to: queue)
                json.field("generation", number: generation)
                let keys = daemon.reloads.needsRestart
                if !keys.isEmpty { json.field("needs_restart", texts: keys.map { Array($0.utf8) }) }
                json.end()
                respond(.json(queue))
            case .failure(let rejection):
                respond(.text(rejection.lines.joined(separator: "\n"), status: 422))
            }
        }
    }

    func upgrade(_ request: AdminRequest, _ respond: @escaping (AdminResponse) -> Void) {
        let text = request.query?["timeout"] ?? "30s"
        guard let limit = Duration(text: text), limit > .zero else {
            return respond(.text("timeout cannot be \(Diagnostic.quote(text)); write a time such as 30s", status: 400))
        }
        daemon.upgrade(within: limit) { result in
            switch result {
            case .success(let process):
                let queue = ByteQueue()
                var json = JSONWriter(to: queue)
                json.field("pid", number: Int(process))
                json.end()
                respond(.json(queue))
            case .failure(let failure):
                respond(.text(failure.lines.joined(separator: "\n"), status: 422))
            }
        }
    }

    func drain(_ respond: (AdminResponse) -> Void) {
        respond(.text("draining", status: 202))
        daemon.requestEnd()
    }
}

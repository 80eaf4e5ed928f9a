internal import Bytes
internal import Configuration
internal import Documents
internal import Events
private import Glibc
internal import Proxy

/// `martlet dashboard`: serves the dashboard of a running daemon to browsers on this machine, also from a Unix socket.
struct DashboardCommand {
    private let file: String?
    private let named: String?
    private let address: ListenAddress

    /// Reads the rest of the command line.
    init(_ invocation: Invocation) throws(UsageError) {
        (file, named) = (invocation[.config], invocation[.admin])
        let text = invocation[.listen] ?? "127.0.0.1:0"
        guard let address = ListenAddress(text), case .tcp = address, address.isLocal else {
            throw invocation.error(
                "\(Diagnostic.quote(text)) is not a loopback address; write for example 127.0.0.1:8099"
            )
        }
        self.address = address
    }

    /// Serves until SIGINT or SIGTERM.
    func run() -> Exit {
        guard let targets = AdminCommand.targets(file: file, named: named) else {
            return named == nil ? .configuration : .usage
        }
        guard let pages = AdminCommand.text("GET", "/", targets) else { return .failure }
        guard let target = targets.first(where: Self.responds) else { return .failure }
        guard pages.split(separator: "\n").contains(where: { $0.hasPrefix("GET    / ") }) else {
            Terminal.complain("martlet: \(target) does not serve the dashboard; add dashboard to its pages")
            return .failure
        }
        // An upstream cannot be in the abstract namespace, where any user may listen in its place.
        guard !"\(target)".hasPrefix("unix:@") else {
            Terminal.complain(
                "martlet: the dashboard needs an admin address such as unix:/path or 127.0.0.1:9901, not \(target)"
            )
            return .failure
        }
        do throws(ListenError) {
            return serve(target, on: try ListenSocket.openAll(address, permissions: SocketPermissions()))
        } catch {
            Terminal.complain("martlet: \(error)")
            return .failure
        }
    }

    private static func responds(_ target: SocketAddress) -> Bool {
        if case .response = AdminClient.ask("GET", "/", firstOf: [target]) { true } else { false }
    }

    private func serve(_ target: SocketAddress, on sockets: [ListenSocket]) -> Exit {
        let origin = "http://\(sockets[0].localAddress)"
        let access = DashboardAccess(port: String(origin.split(separator: ":").last ?? "")) { token in
            Terminal.print("That address was used. The next one, for another browser:\n\(origin)/?token=\(token)")
        }
        DescriptorLimit.raise()
        let loop = EventLoop()
        let signals = Signals([SIGINT, SIGTERM], on: loop) { _ in loop.stop() }
        let diagnostics = Diagnostics()
        let plan = Self.plan(to: target, access, into: diagnostics)
        guard diagnostics.isEmpty else {
            diagnostics.lines(file: "martlet dashboard").forEach(Terminal.complain)
            return .failure
        }
        let worker = Self.worker(plan, on: loop)
        for socket in sockets {
            worker.listen(on: socket.descriptor, name: socket.localAddress, settings: plan.settings.listeners[0])
        }
        Terminal.print("The dashboard of \(target), until Ctrl-C. This address works once:")
        Terminal.print("\(origin)/?token=\(access.currentToken)")
        loop.run()
        worker.drain()
        withExtendedLifetime(signals) {}
        return .success
    }

    /// The configuration of a Martlet between browsers and the admin address.
    private static func plan(
        to target: SocketAddress,
        _ access: DashboardAccess,
        into diagnostics: Diagnostics
    ) -> Plan {
        let url = target.family == .unix ? "\(target)" : "http://\(target)"
        let text = """
            listeners: [ { address: "127.0.0.1:0", origins: any, proxy_status: off } ]
            upstream: '\(url.replacing("'", with: "''"))'
            interceptors: [ \(DashboardGatePlan.name): {} ]
            """
        let root = YAML.parse(Array(text.utf8), into: diagnostics)
        return Plan(root, kinds: Registry(kinds: [DashboardGatePlan.kind(access)]), into: diagnostics)
    }

    /// A worker on this thread, which logs nothing.
    private static func worker(_ plan: Plan, on loop: EventLoop) -> Worker {
        let budgets = Budgets()
        budgets.use(plan.settings)
        let worker = Worker(
            loop: loop,
            lineWriters: LineWriters(),
            shared: budgets.shared,
            descriptors: budgets.descriptors,
            memory: budgets.memory,
            credentialRequests: { _ in },
            requestTypes: {},
            discard: { routes, _ in routes.empty() },
            report: { _ in },
            askForDescriptors: {},
            askForMemory: {},
            relieveMemory: {}
        )
        worker.use(plan, number: 1, routes: RouteTable(plan.settings.routes), tokens: [:])
        return worker
    }
}

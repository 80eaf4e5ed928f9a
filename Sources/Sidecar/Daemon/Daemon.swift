internal import Configuration
internal import Events
private import Glibc
internal import Proxy
internal import Telemetry

/// The running program: workers, listeners, reloads and the end.
///
/// Belongs to the main thread.
final class Daemon {
    let file: ConfigurationFile
    let log: OperationalLog
    let loop = EventLoop()
    let reloads = ReloadHistory()
    private(set) var workers: WorkerPool?
    private(set) var settings: Settings?
    private(set) var isDraining = false

    private let mailbox = Mailbox<Daemon>()
    private let lineWriters = LineWriters()
    private let manager: ServiceManager
    /// What systemd has passed, or why that cannot be used.
    private let passed: Result<SystemdSockets, ListenError>
    private var slot: MailSlot<Daemon>?
    private var signals: Signals?
    private(set) var listeners: ListenerSet?
    private(set) var tokens: TokenFiles?
    private(set) var namedCredentials: [NamedCredential] = []
    private(set) var credentials: CredentialKeeper?
    private(set) var certificates: CertificateFiles?
    private var admin: AdminServer?
    private var memory: MemoryKeeper?
    /// Who waits for a reload that cannot begin yet, since another is on its way to the workers; nil where none is.
    private var waitingReloads: [ReloadCompletion]?
    private var drainTimer: Timer?
    private var drainDeadline: Nanoseconds?
    /// Whether a signal has asked for the end; a second one means it.
    private var wasToldToEnd = false
    private var exit = Exit.success

    init(file: ConfigurationFile, logLevel: LogLevel) {
        self.file = file
        // Before there are other threads, of which the log is the first: the environment is not locked.
        manager = ServiceManager(loop: loop)
        passed = Result { () throws(ListenError) in try SystemdSockets.take() }
        Memory.keepFreed()
        log = OperationalLog(lineWriters, level: logLevel)
    }

    // MARK: Start

    /// Serves until it is told to stop.
    func run(_ loaded: ConfigurationFile.Loaded) -> Exit {
        do throws(ListenError) {
            try start(loaded)
        } catch {
            log.log(.error, "cannot start", ("reason", "\(error)"))
            lineWriters.finish()
            return .failure
        }
        loop.run()
        return finish()
    }

    private func start(_ loaded: ConfigurationFile.Loaded) throws(ListenError) {
        memory = MemoryKeeper(loop: loop) { [unowned self] done in workers?.ask({ $0.trim() }, then: { _ in done() }) }
        let count = loaded.settings.workers ?? Machine.workers
        let listeners = ListenerSet(workers: count, passed: try passed.get())
        self.listeners = listeners
        let change = try listeners.plan(loaded.settings.listeners)
        admin = try AdminSettings.effective(loaded.settings).map { (settings) throws(ListenError) in
            try AdminServer(settings, daemon: self)
        }
        slot = MailSlot(mailbox, for: self, on: loop)
        signals = Signals([SIGHUP, SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2], on: loop) { [unowned self] in signal($0)
        }
        tokens = TokenFiles(loop: loop, log: log) { [unowned self] path, token in
            workers?.tell { $0.updateToken(path, token) }
        }
        credentials = makeKeeper()
        workers = WorkerPool(count: count, control: mailbox, lineWriters: lineWriters, registry: file.registry)
        apply(loaded, change) { [self] number in
            Memory.forgetStart()
            for listener in change.opened { log.log(.info, "listening", ("address", listener.name)) }
            log.log(.info, "ready", ("generation", "\(number)"), ("workers", "\(count)"))
            manager.ready("serving")
        }
    }

    private func makeKeeper() -> CredentialKeeper {
        CredentialKeeper(
            loop: loop,
            fetcher: Fetcher(loop: loop),
            publish: { [unowned self] source, state in workers?.tell { $0.update(source, state) } },
            tell: { [log] in log.log($0) }
        )
    }

    // MARK: Reload

    typealias ReloadCompletion = (Result<Int, ConfigurationFile.Refusal>) -> Void

    /// Loads the file again; `then` is told the new generation, or what is wrong with the file.
    ///
    /// What is asked for while a reload is under way is one more after it: until all workers go by a file, the sockets of
    /// the one before are still open.
    func reload(then: @escaping ReloadCompletion = { _ in }) {
        guard !isDraining else { return then(.failure(.init(lines: ["\(file.name): the daemon is draining"]))) }
        guard waitingReloads == nil else {
            waitingReloads?.append(then)
            return
        }
        manager.reloading()
        do throws(ConfigurationFile.Refusal) {
            let loaded = try file.load()
            let change = try plan(loaded.settings)
            apply(loaded, change) { [self] number in
                for listener in change.opened { log.log(.info, "listening", ("address", listener.name)) }
                log.log(.info, "reloaded", ("generation", "\(number)"))
                manager.ready("serving, generation \(number)")
                then(.success(number))
            }
        } catch {
            reloads.refused(error.lines)
            log.log(.error, "reload refused", ("file", file.name), ("errors", "\(error.lines.count)"))
            for line in error.lines { log.log(.error, line) }
            manager.ready("serving, generation \(reloads.generation); the last reload was refused")
            then(.failure(error))
        }
    }

    private func plan(_ settings: Settings) throws(ConfigurationFile.Refusal) -> ListenerSet.Change {
        warnOfFixed(settings)
        do throws(ListenError) {
            return try listeners!.plan(settings.listeners)
        } catch {
            throw ConfigurationFile.Refusal(lines: ["\(file.name): \(error)"])
        }
    }

    /// What is fixed at start is not changed by a reload, and somebody should know.
    private func warnOfFixed(_ settings: Settings) {
        if (settings.workers ?? Machine.workers) != workers?.count {
            log.log(.warn, "a change of workers takes a restart")
        }
        if AdminSettings.effective(settings) != admin?.settings {
            log.log(.warn, "a change of admin takes a restart")
        }
    }

    /// Hands a configuration to all workers; `done` gets its number when each of them goes by it.
    private func apply(_ loaded: ConfigurationFile.Loaded, _ change: ListenerSet.Change, done: @escaping (Int) -> Void)
    {
        waitingReloads = []
        let number = reloads.succeeded()
        let values = tokens?.use(loaded.tokenFiles) ?? [:]
        let (settings, tls) = (loaded.settings, loaded.tls)
        self.settings = settings
        log.level = settings.logLevel
        for line in loaded.warnings { log.log(.warn, line) }
        listeners?.commit(change)
        workers?.tell(each: { index in
            let routes = RouteTable(settings.routes)
            return { worker in
                worker.use(settings, number: number, routes: routes, tokens: values, tls: tls)
                worker.apply(change, index: index)
            }
        })
        watchCertificates(tls)
        namedCredentials = loaded.credentials
        credentials?.use(loaded.credentials)
        workers?.ask { _ in
            true
        } then: { [self] _ in
            listeners?.close(change.dropped)
            done(number)
            let waiting = waitingReloads.take() ?? []
            if !waiting.isEmpty { reload { result in for then in waiting { then(result) } } }
        }
    }

    /// Watches the listeners' certificates, where there are any.
    private func watchCertificates(_ tls: TLSContexts) {
        guard certificates != nil || !tls.listeners.isEmpty else { return }
        let files =
            certificates
            ?? CertificateFiles(loop: loop, log: log) { [unowned self] settings, new in
                workers?.tell { $0.updateTLS(settings, new) }
            }
        certificates = files
        files.use(tls.listeners)
    }

    // MARK: Signals and the end

    private func signal(_ number: Int32) {
        switch number {
        case SIGHUP: reload()
        case SIGUSR1: lineWriters.reopen()
        case SIGUSR2: dump()
        case SIGQUIT: stop(.failure)
        default:
            if wasToldToEnd { return stop(.failure) }
            wasToldToEnd = true
            drain()
        }
    }

    private func dump() {
        ask { [self] report in
            log.log(
                .info,
                "state",
                ("generation", "\(reloads.generation)"),
                ("in_flight", "\(report.counters.inFlight)"),
                ("connections", "\(report.connections)"),
                ("draining", "\(isDraining)")
            )
        }
    }

    /// Keeps serving for `drain.min`, then takes no more connections, and ends when the last one has, or `drain.max` has
    /// passed.
    func drain() {
        guard drainDeadline == nil, let settings else { return }
        isDraining = true
        let least = Nanoseconds(settings.drain.min)
        let most = settings.drain.max.map { Nanoseconds($0) }
        drainDeadline = most.map { loop.now + max($0, least) } ?? .max
        log.log(.info, "draining", ("min", settings.drain.min.text), ("max", settings.drain.max?.text ?? "none"))
        manager.stopping(within: most)
        drainTimer = Timer(on: loop.timers) { [unowned self] in closeListeners() }
        drainTimer?.arm(after: least)
    }

    private func closeListeners() {
        workers?.tell { $0.drain() }
        workers?.ask { _ in
            true
        } then: { [self] _ in
            if let listeners { listeners.close(Array(listeners.open.values)) }
            awaitConnections()
        }
    }

    private func awaitConnections() {
        workers?.ask {
            $0.connectionCount
        } then: { [self] counts in
            if counts.allSatisfy({ $0 == 0 }) { return stop(.success) }
            if loop.now >= drainDeadline ?? .max {
                log.log(.warn, "drain time exceeded", ("connections", "\(counts.reduce(0, +))"))
                return stop(.failure)
            }
            drainTimer = Timer(on: loop.timers) { [unowned self] in awaitConnections() }
            drainTimer?.arm(after: 20 * .millisecond)
        }
    }

    private func stop(_ exit: Exit) {
        self.exit = exit
        loop.stop()
    }

    private func finish() -> Exit {
        credentials?.end()
        workers?.stop()
        if let listeners { listeners.close(Array(listeners.open.values)) }
        admin?.close()
        log.log(.info, "stopped")
        lineWriters.finish()
        return exit
    }
}

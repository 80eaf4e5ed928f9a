internal import Configuration
internal import Events
private import Glibc
internal import Proxy
internal import Telemetry
internal import Time

/// The running program: workers, listeners, reloads and the end.
///
/// Belongs to the main thread.
final class Daemon {
    let file: ConfigurationFile
    /// What the process has given up.
    var sandbox: Sandbox
    let log: OperationalLog
    let loop = EventLoop()
    let reloads = ReloadHistory()
    /// When the daemon was made, by the clock of the loop.
    let startTime: Instant
    private(set) var workers: WorkerPool?
    private(set) var settings: Settings?
    /// Whether the daemon was told to stop.
    var isDraining: Bool { ending.drain != nil }

    private let mailbox = Mailbox<Daemon>()
    let lineWriters = LineWriters()
    /// What the workers share.
    let budgets = Budgets()
    let manager: ServiceManager
    /// What systemd has passed, or why that cannot be used.
    private let passed: Result<SystemdSockets, ListenError>
    private var slot: MailSlot<Daemon>?
    var signals: Signals?
    private(set) var listeners: ListenerSet?
    private(set) var credentials: CredentialHolders?
    private(set) var certificates: CertificateFiles?
    /// What fetches types; none if no configuration has named an upstream for it.
    var reflection: ReflectionManager?
    /// What checks addresses; none if no configuration has asked for that.
    var health: HealthChecker?
    /// What exports spans; none if no configuration has asked for that.
    var spans: SpanExporter?
    /// What exports metrics; none if no configuration has asked for that.
    var metrics: MetricExporter?
    private(set) var admin = AdminService()
    private var keepers: Keepers?
    /// The last report of each worker, by its index.
    var lastReports: [Int: Report] = [:]
    var pendingStart = PendingStart()
    var fileWatch: SettledFiles?
    var reloadQueue = ReloadQueue()
    var ending = Ending()
    /// The program that the daemon is there for; none if it serves for itself.
    let jobRun: JobRun?
    var job: Job? { jobRun?.job }
    /// Which processes of the program come before and after this one.
    let successions: Successions
    private var predecessor: Predecessor? { successions.predecessor }
    /// Whether the process before this one still accepts calls.
    var isWaitingForTurn: Bool
    /// The upgrade under way, or the one that has replaced this process.
    var upgrade: Upgrade?
    /// Looks whether the daemon is ready, for who waits for that.
    var readinessTimer: Timer?

    init(
        file: ConfigurationFile,
        logLevel: LogLevel,
        passed: Result<SystemdSockets, ListenError>,
        sandbox: Sandbox,
        successions: Successions,
        job: JobRun?
    ) {
        self.file = file
        self.sandbox = sandbox
        jobRun = job
        self.successions = successions
        isWaitingForTurn = successions.predecessor != nil
        self.passed = passed
        startTime = loop.now
        // Before there are other threads, of which the log is the first: the environment is not locked.
        manager = ServiceManager(loop: loop, isMain: successions.predecessor == nil)
        Memory.keepFreed()
        log = OperationalLog(lineWriters, level: logLevel)
    }

    // MARK: Start

    /// Serves until it is told to stop.
    ///
    /// With `watches`, a change of the file is a reload, as where nobody can send a signal: in a pod whose ConfigMap changes.
    func run(_ loaded: ConfigurationFile.Loaded, watches: Bool) -> Exit {
        if watches, file.canBeWatched, let path = file.path {
            fileWatch = SettledFiles(loop: loop, log: log) { [unowned self] _ in
                reloadQueue.note(isDue: healthProblem != nil || isBesideAnother)
                reload()
            }
            _ = fileWatch?.use([path])
            if FileIdentity(of: path) != loaded.identity { fileWatch?.checkSoon(at: path) }
        }
        signals = Signals(Self.allSignals, on: loop) { [unowned self] in signal($0) }
        Signals.releaseEnds()
        watchLauncher()
        log.log(.info, "sandbox", sandbox.fields)
        for line in sandbox.warnings { log.log(.warn, line) }
        attemptStart(loaded)
        if ending.exit == nil { loop.run() }
        return finish()
    }

    /// Starts to serve, or says why that cannot be.
    ///
    /// Under a service manager a cause that may pass by itself is waited out: a program at a prompt ends with the error.
    func attemptStart(_ loaded: ConfigurationFile.Loaded) {
        pendingStart.loaded = nil
        do throws(ConfigurationFile.Rejection) {
            try file.checkPlaces(of: loaded)
        } catch {
            for line in error.lines { log.log(.error, "cannot start", ("reason", line)) }
            predecessor?.failed(error.lines)
            return stop(.failure)
        }
        do throws(ListenError) {
            try start(loaded)
        } catch {
            guard manager.isThere, error.isTransient, predecessor == nil, jobRun == nil else {
                log.log(.error, "cannot start", ("reason", "\(error)"))
                predecessor?.failed(["\(error)"])
                return stop(.failure)
            }
            let pause = pendingStart.retry.pause()
            log.log(.warn, "cannot start yet", ("reason", "\(error)"), ("retry_in", "\(pause / .second)s"))
            manager.waiting("\(error); retrying in \(pause / .second) s", for: pause)
            pendingStart.loaded = loaded
            pendingStart.timer = Timer(on: loop.timers) { [unowned self] in attemptStart(loaded) }
            pendingStart.timer?.arm(after: pause)
        }
    }

    private func start(_ loaded: ConfigurationFile.Loaded) throws(ListenError) {
        let count = loaded.plan.settings.workers ?? Machine.workers
        if listeners == nil {
            let new = ListenerSet(workers: count, passed: try passed.get(), manager: manager)
            for name in new.unused(by: loaded.plan.settings.listeners) {
                let advice = "write listen: systemd:\(name)"
                log.log(.warn, "systemd passed a socket that no listener uses", ("name", name), ("advice", advice))
            }
            listeners = new
        }
        let listeners = listeners!
        listeners.workers = count
        let change = try listeners.plan(loaded.plan.settings.listeners)
        admin.settings = AdminSettings.effective(loaded.plan.settings)
        do throws(ListenError) {
            admin.servers = try openAdmin(admin.settings)
        } catch {
            listeners.undo(change)
            throw error
        }
        if let error = sandbox.closeUnixSockets() {
            log.log(.error, "the sandbox does not forbid Unix sockets", ("reason", error.text))
        }
        slot = MailSlot(mailbox, for: self, on: loop)
        credentials = makeCredentials()
        startWorkers(count)
        apply(loaded, change, listens: predecessor == nil) { [self] number in
            Memory.resetPeak()
            guard let predecessor else { return serves(change, number) }
            replace(predecessor, change) { [self] in serves(change, number) }
        }
    }

    private func serves(_ change: ListenerSet.Change, _ number: Int) {
        for listener in change.opened { log.log(.info, "listening", ("address", listener.name)) }
        log.log(.info, "ready", ("generation", "\(number)"), ("workers", "\(workers?.count ?? 0)"))
        manager.ready("serving")
        if let jobRun { beginJob(jobRun) }
    }

    /// Opens the admin sockets; one that nobody has asked for may be missing, as where the directory cannot be written.
    private func openAdmin(_ sockets: [AdminSettings]) throws(ListenError) -> [AdminServer] {
        var opened: [AdminServer] = []
        for settings in sockets {
            do throws(ListenError) {
                opened.append(try AdminServer(settings, daemon: self))
            } catch {
                guard settings.isRequired else {
                    log.log(.warn, "no admin socket", ("reason", "\(error)"))
                    continue
                }
                for server in opened { server.close() }
                throw error
            }
        }
        return opened
    }

    private func startWorkers(_ count: Int) {
        let memory = MemoryKeeper(loop: loop) { [unowned self] done in
            workers?.ask({ $0.trim() }, then: { _ in done() })
        }
        let pool = WorkerPool(
            count: count,
            loop: loop,
            control: mailbox,
            lineWriters: lineWriters,
            budgets: budgets
        )
        workers = pool
        let limit = manager.watchdogHalf ?? 10 * .second
        keepers = Keepers(
            memory: memory,
            relief: MemoryRelief(of: budgets.memory, workers: pool, loop: loop),
            health: WorkerHealth(pool, loop: loop, limit: limit, log: log) { [unowned self] in healthChanged() }
        )
        manager.isHealthy = { [unowned self] in healthProblem == nil }
    }

    /// The process holds more for calls than it may.
    func relieveMemory() {
        keepers?.relief.relieve()
    }

    /// Where the admin pages are served.
    var adminAddresses: [String] { admin.servers.flatMap(\.addresses) }

    /// What keeps the daemon from doing its work, for people; none if nothing does.
    var healthProblem: String? { keepers?.health.problem }

    private func makeCredentials() -> CredentialHolders {
        CredentialHolders(
            files: TokenFiles(loop: loop, log: log) { [unowned self] path, token, rejections in
                workers?.post { $0.updateToken(path, token, deciding: rejections) }
            },
            manager: CredentialManager(
                loop: loop,
                fetcher: Fetcher(loop: loop),
                publish: { [unowned self] source, state in workers?.post { $0.update(source, state) } },
                log: { [log] in log.log($0) }
            )
        )
    }

    /// Does what a worker asks for.
    func handle(_ request: CredentialRequest) {
        switch request {
        case .rejected(.file(let path), let token, let rejection): credentials?.files.rejected(path, token, rejection)
        case .fetch, .rejected, .accepted: credentials?.manager.handle(request)
        }
    }

    // MARK: A new configuration

    /// Hands a configuration to all workers; `done` gets its number when each of them goes by it.
    ///
    /// With `listens` false no worker accepts calls on the listeners that it opens.
    func apply(
        _ loaded: ConfigurationFile.Loaded,
        _ change: ListenerSet.Change,
        listens: Bool = true,
        done: @escaping (Int) -> Void
    ) {
        reloadQueue.begin()
        let number = reloads.succeeded()
        let plan = loaded.plan
        let settings = plan.settings
        let values = credentials?.files.use(plan.tokenFiles) ?? [:]
        let types = types(of: plan)
        checkHealth(plan)
        exportTelemetry(plan.telemetry)
        self.settings = settings
        log.level = settings.logLevel
        for line in loaded.warnings { log.log(.warn, line) }
        budgets.use(settings)
        // The limit may be less now than what is held.
        relieveMemory()
        let needs = DescriptorNeeds(settings)
        if let shortage = needs.shortage(budgets.descriptors) { log.log(needs.isMeant ? .warn : .info, shortage) }
        listeners?.commit(change)
        workers?.post(each: { index in
            let routes = RouteTable(settings.routes)
            return { $0.prepare(plan, number: number, routes: routes) }
        })
        // Each a letter of its own: between them the worker turns to its calls.
        for _ in 0..<plan.steps { workers?.post { $0.prepareFurther() } }
        workers?.post(each: { index in
            { worker in
                worker.replaceGeneration(tokens: values, types: types)
                if listens { worker.apply(change, index: index) }
            }
        })
        watchCertificates(plan.tls)
        credentials?.named = plan.credentials
        credentials?.manager.use(plan.credentials)
        workers?.ask({ _ in true }, within: nil) { [self] _ in
            if listens { settle(change) }
            done(number)
            let waiting = reloadQueue.end()
            if !waiting.isEmpty { reload { result in for then in waiting { then(result) } } }
        }
    }

    /// All workers go by a new configuration: what it has no use for is closed.
    func settle(_ change: ListenerSet.Change) {
        guard let workers, let listeners else { return }
        if let shortage = listeners.shortageOfStore { log.log(.warn, shortage) }
        let surplus = listeners.surplus
        guard !surplus.isEmpty else { return listeners.settle(change) }
        workers.post(each: { index in
            { worker in if index == 0 { worker.acceptWaiting(on: surplus) } }
        })
        workers.ask(0) { listeners.settle(change) }
    }

    /// Watches the listeners' certificates, where there are any.
    private func watchCertificates(_ tls: TLSContexts) {
        guard certificates != nil || !tls.listeners.isEmpty else { return }
        let files =
            certificates
            ?? CertificateFiles(loop: loop, log: log) { [unowned self] settings, new in
                workers?.post { $0.updateTLS(settings, new) }
            }
        certificates = files
        files.use(tls.listeners)
    }
}

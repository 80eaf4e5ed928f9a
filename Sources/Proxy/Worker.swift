internal import Bytes
internal import Compressors
package import Configuration
package import Credentials
package import Events
internal import HTTP
internal import RPC
package import Telemetry
internal import Time
internal import Types

/// One thread's share of the proxy: its loop, listeners, generation, pools and counters.
///
/// Nothing of it is shared with other workers. It is made on its thread, and reached from others by a `Mailbox`.
package final class Worker {
    /// The loop and the memory of the thread.
    package let context: WireContext
    /// Lets calls with large messages take turns.
    let turns: MessageTurns
    /// What the worker counts.
    let counters: WorkerCounters
    /// What its interceptors use.
    let services: WorkerServices

    private(set) var generation: Generation
    /// The calls that ended last.
    let recent = RecentCalls()
    /// Who sees calls, if somebody does.
    var taps: WorkerTaps?
    /// The memory for bodies of requests with masked parts.
    let redactedBytes = CopyBudget()
    /// Traces for the next calls.
    private let traces = DecisionTracePool()
    private var calls: UInt = 0
    /// Of so many calls and one more, one is timed: a power of two and one less.
    private var untimed: UInt = 15
    /// Compresses and decompresses messages.
    private(set) lazy var compressor = Compressor()
    /// Converts messages.
    private(set) lazy var messageCodec = MessageCodec { [memory = context.memory] in memory.messageRoom }
    private let network: any Network
    private let destination: (Upstream) -> Destination
    private let names: NameService
    private let discard: (RouteTable, Plan) -> Void
    private let requestTypes: () -> Void
    /// When the types may be requested again.
    private var nextTypesRequest = Instant.start
    private var upstreams: [String: Upstream] = [:]
    private(set) var tls = TLSContexts()
    /// The generations before that calls go by.
    private(set) lazy var older = OlderGenerations(on: context.loop) { [unowned self] in endCalls(of: $0, after: $1) }
    private var coming: GenerationBuilder?
    /// Those that accept no more and still have connections.
    private(set) var draining: [Acceptor] = []
    private(set) var acceptors: [String: (acceptor: Acceptor, service: CallerService)] = [:]

    /// Makes a worker that has no configuration yet, on the thread that is to be its own.
    ///
    /// - Parameters:
    ///   - loop: the loop of the thread.
    ///   - lineWriters: where access logs go.
    ///   - shared: what its interceptors share with those of other workers.
    ///   - descriptors: how many file descriptors callers may take on all workers.
    ///   - memory: what all workers may hold for callers.
    ///   - credentialRequests: receives what the worker asks of the credential manager, on the worker's thread.
    ///   - requestTypes: has types fetched, since a call has an unknown method; called on the worker's thread.
    ///   - discard: receives what no call uses any more, to release it on another thread.
    ///   - report: receives what the daemon should log, on the worker's thread.
    ///   - askForDescriptors: has the other workers close idle connections; called on the worker's thread.
    ///   - askForMemory: has the other workers close idle connections for memory; called on the worker's thread.
    ///   - relieveMemory: has all workers end stalled calls; called on the worker's thread.
    package convenience init(
        loop: EventLoop,
        lineWriters: LineWriters,
        shared: SharedStore,
        descriptors: DescriptorBudget,
        memory: MemoryBudget,
        credentialRequests: @escaping (CredentialRequest) -> Void,
        requestTypes: @escaping () -> Void,
        discard: @escaping (RouteTable, Plan) -> Void,
        report: @escaping @Sendable (LogMessage) -> Void,
        askForDescriptors: @escaping () -> Void,
        askForMemory: @escaping () -> Void,
        relieveMemory: @escaping () -> Void
    ) {
        self.init(
            loop: loop,
            lineWriters: lineWriters,
            shared: shared,
            descriptors: descriptors,
            memory: memory,
            network: SystemNetwork(firstOfLast: descriptors.firstOfLast),
            credentialRequests: credentialRequests,
            requestTypes: requestTypes,
            discard: discard,
            report: report,
            askForDescriptors: askForDescriptors,
            askForMemory: askForMemory,
            relieveMemory: relieveMemory
        )
        services.responseDates = ResponseDates()
    }

    /// Makes a worker that connects to upstreams by `network`, if requests for an upstream go to it: `destination` tells.
    init(
        loop: EventLoop,
        lineWriters: LineWriters?,
        shared: SharedStore = SharedStore(),
        descriptors: DescriptorBudget? = nil,
        memory: MemoryBudget = MemoryBudget(),
        network: any Network,
        destination: @escaping (Upstream) -> Destination = Destination.upstream,
        credentialRequests: @escaping (CredentialRequest) -> Void = { _ in },
        requestTypes: @escaping () -> Void = {},
        discard: @escaping (RouteTable, Plan) -> Void = { _, _ in },
        report: @escaping @Sendable (LogMessage) -> Void = { _ in },
        askForDescriptors: @escaping () -> Void = {},
        askForMemory: @escaping () -> Void = {},
        relieveMemory: @escaping () -> Void = {}
    ) {
        self.discard = discard
        self.requestTypes = requestTypes
        let keeper = descriptors.map { DescriptorKeeper($0, loop: loop, askOthers: askForDescriptors) }
        let reclaimer = MemoryReclaimer(memory, loop: loop, askOthers: askForMemory)
        context = WireContext(loop: loop, memory: memory, descriptors: keeper, reclaimer: reclaimer)
        turns = MessageTurns(loop)
        self.network = network
        self.destination = destination
        names = NameService(loop: loop)
        services = WorkerServices(
            context: context,
            log: LogLimiter(loop: loop, log: report),
            lineWriters: lineWriters,
            shared: shared,
            credentials: CredentialStore(on: loop, send: credentialRequests),
            network: network,
            names: names
        )
        counters = services.counters
        generation = Generation.none(on: services)
        keepDescriptors()
        meterMemory(relieve: relieveMemory)
    }

    // MARK: For calls

    /// What people should know.
    var logLimiter: LogLimiter { services.log }
    func acquireQueue() -> ByteQueue { context.acquireQueue() }
    func release(_ queue: consuming ByteQueue) { context.release(queue) }
    func acquireHead() -> HTTPHead { context.acquireHead() }
    func release(_ head: consuming HTTPHead) { context.release(head) }
    func acquireTrace() -> DecisionTrace { traces.acquire() }
    func release(_ trace: consuming DecisionTrace) { traces.release(trace) }
    func atEndOfTurn(_ work: any EndOfTurn) { context.atEndOfTurn(work) }
    func count(_ result: AttemptResult, of upstream: UpstreamCounter) { counters.attempt(upstream, result) }

    /// Forgets what is kept for further calls and nobody has needed since the last trim.
    package func trim() {
        context.trim()
        traces.trim()
        Memory.trimThread()
    }

    // MARK: Configuration

    /// Prepares to go over to a configuration, in as many steps as its plan has.
    ///
    /// - Parameters:
    ///   - plan: the configuration.
    ///   - number: that of the generation it becomes.
    ///   - routes: the routes of the configuration, made for this worker.
    package func prepare(_ plan: Plan, number: Int, routes: RouteTable) {
        services.credentials.begin()
        coming = GenerationBuilder(plan, number: number, routes: routes, services: services)
    }

    /// Takes a step toward the configuration that is prepared.
    package func prepareFurther() {
        coming?.step()
    }

    /// Goes over to the configuration that is prepared: new calls go by it, calls under way stay with theirs.
    ///
    /// - Parameters:
    ///   - values: the tokens that files have now.
    ///   - types: the types that calls go by.
    package func replaceGeneration(tokens values: [String: [UInt8]?], types: KnownTypes?) {
        guard let coming = coming.take() else { return }
        tls = coming.plan.tls
        var next: [String: Upstream] = [:]
        for upstream in coming.plan.settings.upstreams {
            next[upstream.name] = kept(upstream) ?? make(upstream, coming.plan.defaults[upstream.name])
        }
        let new = coming.finish(upstreams: next, types: types, destination: destination, discard: discard)
        for (path, value) in values { updateToken(path, value) }
        older.retire(generation)
        older.replaced(limit: coming.plan.settings.drain.generation)
        generation = new
        for (name, upstream) in upstreams where next[name] !== upstream { upstream.drain() }
        upstreams = next
    }

    /// Prepares a configuration and goes over to it at once.
    package func use(_ plan: Plan, number: Int, routes: RouteTable, tokens values: [String: [UInt8]?]) {
        prepare(plan, number: number, routes: routes)
        replaceGeneration(tokens: values, types: plan.types)
    }

    /// Has new calls go by other types; calls under way stay with theirs.
    package func use(_ types: KnownTypes) {
        let new = Generation(generation, types: types)
        older.retire(generation)
        generation = new
    }

    /// A call has a method that reflection has not brought: it may be new.
    func noteUnknownMethod() {
        guard context.loop.now >= nextTypesRequest else { return }
        nextTypesRequest = context.loop.now + .second
        requestTypes()
    }

    /// Takes the token that a file has now, nil if it has none, and the rejections of the one before that this decides on.
    package func updateToken(_ path: String, _ value: [UInt8]?, deciding rejections: [CredentialRejection] = []) {
        services.credentials.update(file: path, value, deciding: rejections)
    }

    /// Takes what is known of a credential now.
    package func update(_ source: CredentialSource, _ state: CredentialState) {
        services.credentials.update(source, state)
    }

    /// How many generations calls go by.
    package var liveGenerations: Int { Set(older.all.map(\.number)).union([generation.number]).count }

    private func kept(_ settings: UpstreamSettings) -> Upstream? {
        upstreams[settings.name].flatMap {
            PoolIdentity($0.settings, $0.tls) == identity(settings) ? $0 : nil
        }
    }

    private func identity(_ settings: UpstreamSettings) -> PoolIdentity {
        PoolIdentity(settings, tls.upstreams[settings.name])
    }

    private func make(_ settings: UpstreamSettings, _ defaults: RequestDefaults?) -> Upstream {
        let counter = counters.upstream(settings.name)
        return Upstream(
            settings,
            context: context,
            network: network,
            names: names,
            counter: counter,
            events: UpstreamEvents(
                exceeded: { [counters] in counters.http2LimitHit($0.label) },
                retired: { [counters] in counters.retiredConnection(counter) },
                shareReached: { [counters] in counters.limitHit(.ejectShare) },
                addressesExceeded: { [counters] in counters.limitHit(.addresses) },
                makeRoom: { [unowned self] in makeRoom($0) }
            ),
            logLimiter: logLimiter,
            tls: tls.upstreams[settings.name],
            defaults: defaults,
            addresses: settings.addresses.isBalanced
                ? services.shared.object(settings.name, make: { AddressTable(settings.name) }) : nil,
            calls: settings.limits.calls.map { _ in
                services.shared.object(settings.name, make: { UpstreamCallLimit() })
            },
            spool: settings.limits.spool.map { _ in services.shared.object(settings.name, make: { SpoolBudget() }) },
            cookies: .shared(in: services.shared, for: identity(settings)),
            seed: services.random.next()
        )
    }

    // MARK: Listeners

    /// Accepts on a descriptor, which the caller keeps and closes after `stopListening`.
    package func listen(on descriptor: Int32, name: String, settings: ListenerSettings) {
        let service = CallerService(settings, name: name, worker: self)
        let counter = counters.listener(name)
        let counters = counters
        let acceptor = Acceptor(descriptor, context: context, service: service, limit: settings.limits.connections) {
            [unowned self] event in
            switch event {
            case .accepted: counters.connectionOpened(counter)
            case .closed:
                counters.connectionClosed(counter)
                if !draining.isEmpty { draining.removeAll { $0.count == 0 } }
            case .rejected: counters.limitHit(.connections)
            case .noDescriptor: rejectedForDescriptors(listener: name)
            case .noMemory: rejectedForMemory(listener: name)
            case .outOfDescriptors: ranOutOfDescriptors(listener: name)
            case .evicted: counters.connectionEvicted(counter)
            case .tlsFailed: counters.tlsFailed(counter)
            }
        }
        acceptors[name] = (acceptor, service)
    }

    /// Takes the new settings of a listener that stays.
    package func update(listener name: String, settings: ListenerSettings) {
        acceptors[name]?.service.use(settings)
        acceptors[name]?.acceptor.limit = settings.limits.connections
        acceptors[name]?.acceptor.watchForStalls()
    }

    /// Takes the connections that wait on another socket of a listener's address; the socket stays the caller's.
    package func acceptWaiting(on descriptor: Int32, listener name: String) {
        acceptors[name]?.acceptor.acceptWaiting(on: descriptor)
    }

    /// Takes what the files of these settings have come to now; new connections go by it.
    package func updateTLS(_ settings: ListenerTLSSettings, _ new: ListenerTLS) {
        tls.listeners[settings] = new
        for (_, service) in acceptors.values { service.use(new, for: settings) }
    }

    /// Accepts no more on a listener, and lets its connections come to their end.
    package func stopListening(_ name: String) {
        guard let (acceptor, _) = acceptors.removeValue(forKey: name) else { return }
        acceptor.stopAccepting()
        acceptor.drain()
        if acceptor.count > 0 { draining.append(acceptor) }
    }

    // MARK: The end

    /// Accepts no more, closes idle connections, and ends the others with the call under way.
    package func drain() {
        for name in acceptors.keys.sorted() { stopListening(name) }
        services.drain()
    }

    /// Ends the calls under way now: callers without a response are told, and the records are completed.
    package func abandon() {
        for (acceptor, _) in acceptors.values { acceptor.abandon() }
        for acceptor in draining { acceptor.abandon() }
    }

    /// The number of callers' connections that are open.
    package var connectionCount: Int {
        acceptors.values.reduce(0) { $0 + $1.acceptor.count } + draining.reduce(0) { $0 + $1.count }
    }

    /// The calls that ended last: the time of day at which each did, and a line of JSON.
    package var recentCalls: [KeptCall] { recent.all }

    /// Whether the hooks of the next call are timed: those of one in sixteen, since a look at the clock costs as much as
    /// a hook.
    func measuresTime() -> Bool {
        calls &+= 1
        return calls & untimed == 1 & untimed
    }

    /// Times all calls and keeps the lines of all, for a worker that has few.
    func notesEveryCall() {
        untimed = 0
        recent.keepsAll = true
    }

    /// What the worker has counted until now.
    package func snapshot() -> CountersSnapshot {
        var snapshot = counters.snapshot()
        for upstream in openUpstreams { snapshot.add(upstream.usage, of: upstream.settings.name) }
        return snapshot
    }

    /// Why connections could not be made of late, by the name of the upstream.
    package var connectErrors: [String: String] { upstreams.compactMapValues(\.connectError) }

    /// What there is at the addresses of upstreams.
    package var addressUsage: [AddressUsage] { openUpstreams.flatMap(\.addressUsage) }

    /// The upstreams of the configuration, and those of the same names with other settings that older calls still use.
    var openUpstreams: [Upstream] {
        let current = Array(upstreams.values)
        var older: [ObjectIdentifier: Upstream] = [:]
        for upstream in self.older.all.flatMap(\.upstreams.values) where upstreams[upstream.settings.name] != nil {
            if upstreams[upstream.settings.name] !== upstream { older[ObjectIdentifier(upstream)] = upstream }
        }
        return current + older.values
    }
}

extension Generation {
    /// What a worker has before its first configuration.
    fileprivate static func none(on services: WorkerServices) -> Generation {
        let plan = Plan(nil, kinds: Registry(kinds: []), into: Diagnostics())
        let builder = GenerationBuilder(plan, number: 0, routes: RouteTable([]), services: services)
        return builder.finish(upstreams: [:], types: nil, destination: Destination.upstream) { _, _ in }
    }
}

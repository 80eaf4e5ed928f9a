import Bytes
import Configuration
import Documents
import Events
import Glibc
import Interceptors
import RPC
import Telemetry
import Testing
import Time

@testable import Proxy

/// A worker with scripted callers and upstreams around it, and a clock that the test turns.
///
/// Nothing of it ever waits: over sockets an expectation takes turns until it is met, or long enough to give it up.
final class ProxyHarness {
    let transport: Transport
    let clock = ManualClock(now: .start + 1000 * .second)
    let loop: EventLoop
    let eventLog = EventLog()
    let gates = SuspensionGates()
    let lineWriters = LineWriters()
    /// What the worker has ordered from the keeper of credentials.
    let credentialRequests = CredentialRequests()
    /// What the worker has said for the operational log.
    let messages = Locked<[String]>([])
    private(set) var worker: Worker!
    private let network = ScriptedNetwork()
    private let kinds: Registry
    private let leaks = LeakTracker()
    private var peers: [ScriptedPeer] = []
    private var ends: [MemoryTransport] = []
    private var listeners: [String: LoopbackListener] = [:]
    private var generations = 0
    /// How many tables of routes are not asked any more.
    private(set) var discardedTables = 0

    /// How often the worker has asked for types.
    private(set) var typesRequests = 0

    /// How often the worker has asked others for descriptors.
    private(set) var callsForDescriptors = 0

    init(
        _ transport: Transport,
        _ yaml: String,
        shared: SharedStore = SharedStore(),
        descriptors: DescriptorBudget? = nil,
        memory: MemoryBudget = MemoryBudget()
    ) {
        self.transport = transport
        loop = EventLoop(clock: .manual(clock))
        kinds = Registry.builtIn.adding([ProbePlan.kind(eventLog), GatePlan.kind(eventLog, gates)])
        network.harness = self
        worker = Worker(
            loop: loop,
            lineWriters: lineWriters,
            shared: shared,
            descriptors: descriptors,
            memory: memory,
            network: network,
            credentialRequests: { [credentialRequests] in credentialRequests.note($0) },
            requestTypes: { [unowned self] in typesRequests += 1 },
            discard: { [unowned self] _, _ in discardedTables += 1 },
            report: { [messages] message in
                let fields = message.fields.map { " \($0.name)=\($0.value)" }
                messages.withLock { $0.append(message.text + fields.joined()) }
            },
            askForDescriptors: { [unowned self] in callsForDescriptors += 1 }
        )
        for listener in use(yaml).listeners { listen(listener) }
    }

    // MARK: Configuration

    /// Lets the worker go by another configuration.
    @discardableResult
    func use(_ yaml: String, tokens: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation)
        -> Settings
    {
        let diagnostics = Diagnostics()
        let plan = Plan(YAML.parse(Array(Self.silent(yaml).utf8), into: diagnostics), kinds: kinds, into: diagnostics)
        #expect(diagnostics.lines(file: "harness") == [], sourceLocation: sourceLocation)
        generations += 1
        worker.use(
            plan,
            number: generations,
            routes: RouteTable(plan.settings.routes),
            tokens: tokens.mapValues { Array($0.utf8) }
        )
        return plan.settings
    }

    /// The configuration with listeners that say nothing of the proxy, unless they are written out.
    private static func silent(_ yaml: String) -> String {
        let address = "127.0.0.1:8080"
        return yaml.replacing("listen: \(address)", with: "listeners: [{address: \"\(address)\", proxy_status: off}]")
    }

    private func listen(_ settings: ListenerSettings) {
        let listener: LoopbackListener
        if case .unix = settings.address {
            listener = LoopbackListener(.abstract(name: "martlet-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"))
        } else {
            listener = LoopbackListener()
        }
        listeners["\(settings.address)"] = listener
        worker.listen(on: listener.socket.descriptor, name: "\(settings.address)", settings: settings)
    }

    // MARK: Peers

    /// A caller that has connected to a listener; in memory it can be anybody.
    func caller(on address: String = "127.0.0.1:8080", as somebody: Peer? = nil) -> ScriptedPeer {
        let isUnix = address.hasPrefix("unix:")
        defer { turn() }
        guard transport == .memory else { return peer(SocketEnd(to: listeners[address]!.address)) }
        let (near, far) = (watched(.done), MemoryTransport())
        MemoryTransport.join(near, far)
        let usual = Peer(
            address: isUnix ? nil : .ipv4([127, 0, 0, 1], port: 5123),
            credentials: isUnix ? PeerCredentials(uid: getuid(), gid: getgid()) : nil
        )
        worker.acceptors[address]!.acceptor.accept(near, from: somebody ?? usual)
        return self.peer(far)
    }

    /// The upstream at an address.
    func upstream(_ address: String = "127.0.0.1:9000") -> ScriptedUpstream {
        network.upstream(address)
    }

    func peer(_ end: SocketEnd) -> ScriptedPeer {
        remember(ScriptedPeer(end.socket, in: self) { end.reset() })
    }

    func peer(_ end: MemoryTransport) -> ScriptedPeer {
        remember(ScriptedPeer(end, in: self) { end.reset() })
    }

    private func remember(_ peer: ScriptedPeer) -> ScriptedPeer {
        peers.append(peer)
        return peer
    }

    /// An end in memory for the worker.
    func watched(_ connect: MemoryTransport.Connect) -> MemoryTransport {
        let end = MemoryTransport { [leaks] in leaks.note($0) }
        end.connect = connect
        end.room = 64 * 1024
        ends.append(end)
        return end
    }

    /// Forgets the connections that are closed on both sides, which cost each turn a little.
    func removeClosed() {
        peers.removeAll { $0.isClosed }
        ends.removeAll { $0.isClosed }
    }

    /// Knows the addresses of an upstream as if they had been looked up.
    func know(_ addresses: [String], as name: String) {
        let known = addresses.map { address in
            let parts = address.split(separator: ":")
            return SocketAddress.ipv4(parts[0].split(separator: ".").map { UInt8($0)! }, port: UInt16(parts[1])!)
        }
        worker.generation.upstreams[name]?.dnsCache.store(known, until: .max)
    }

    // MARK: Time

    private var isReported = true

    /// Lets the worker notice nothing, so that several things happen to it at once.
    func stopReporting() { isReported = false }

    /// Lets the worker notice things again.
    func startReporting() {
        isReported = true
        turn()
    }

    /// Takes a turn of the loop, and moves the bytes on both sides of it.
    func turn() {
        guard isReported else { return }
        for end in ends { end.report() }
        loop.turn(waiting: false)
        network.move()
        for peer in peers { peer.move() }
    }

    /// Takes turns until `condition` holds, or as many as it could take on a busy machine if other threads have a part in it.
    func until(_ condition: () -> Bool) {
        for round in 0..<20_000 {
            if condition() { return }
            if round > 100 { usleep(100) }
            turn()
        }
    }

    /// Takes so many turns that whatever was to happen has happened.
    func settle() {
        for _ in 0..<(transport == .memory ? 10 : 50) { turn() }
    }

    /// Lets time pass.
    func pass(_ time: Duration) {
        settle()
        clock.now += time
        settle()
    }

    // MARK: Looking

    /// The sample lines of the metrics whose names begin like this.
    func metrics(_ name: String) -> [String] {
        let queue = ByteQueue()
        PrometheusText(to: queue).append(worker.snapshot().families(codeNames: RPCCode.allCases.map(\.name)))
        let lines = queue.readable.string.split(separator: "\n").map(String.init)
        return lines.filter { $0.hasPrefix(name) }
    }

    /// The calls that exist.
    var livingCalls: Int { worker.generation.calls }

    // MARK: The end

    /// Ends everything and looks for what has been left over.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) {
        for peer in peers { peer.close() }
        // The kernel may tell of ends late.
        until { livingCalls == 0 }
        settle()
        #expect(livingCalls == 0, "calls are alive", sourceLocation: sourceLocation)
        #expect(worker.liveGenerations == 1, "old generations are alive", sourceLocation: sourceLocation)
        let empty = Plan(nil, kinds: kinds, into: Diagnostics())
        worker.use(empty, number: generations + 1, routes: RouteTable([]), tokens: [:])
        worker.drain()
        pass(.seconds(7200))
        until { self.worker.connectionCount == 0 && leaks.living == [] }
        #expect(worker.connectionCount == 0, "callers' connections are open", sourceLocation: sourceLocation)
        #expect(leaks.living == [], "connections are alive", sourceLocation: sourceLocation)
        #expect(metrics("martlet_rpc_in_flight") == ["martlet_rpc_in_flight 0"], sourceLocation: sourceLocation)
        lineWriters.finish()
        weak let worker = worker
        self.worker = nil
        #expect(worker == nil, "the worker is alive", sourceLocation: sourceLocation)
    }
}

/// Plays a script, and sees to it that nothing is left over.
func runProxy(
    _ transport: Transport,
    _ yaml: String,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ script: (ProxyHarness) throws -> Void
) rethrows {
    let harness = ProxyHarness(transport, yaml)
    try script(harness)
    harness.finish(sourceLocation: sourceLocation)
}

/// Plays a script in memory.
func runProxy(
    _ yaml: String,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ script: (ProxyHarness) throws -> Void
) rethrows {
    try runProxy(.memory, yaml, sourceLocation: sourceLocation, script)
}

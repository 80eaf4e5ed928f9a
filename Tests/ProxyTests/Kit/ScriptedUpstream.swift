import Bytes
import Events
import Glibc
import Testing

@testable import Proxy

/// An upstream's address, and what becomes of those who connect to it.
final class ScriptedUpstream {
    enum Behaviour { case accepts, rejects, hangs, isUnreachable, lacksDescriptors }

    var behaviour = Behaviour.accepts
    /// How many times somebody has begun to connect.
    private(set) var connects = 0
    private unowned let harness: ProxyHarness
    private let listener: LoopbackListener?
    private var waiting: [ScriptedPeer] = []
    private var hanging: [MemoryTransport] = []

    init(in harness: ProxyHarness) {
        self.harness = harness
        listener = harness.transport == .sockets ? LoopbackListener() : nil
    }

    /// The next connection.
    func accept(sourceLocation: SourceLocation = #_sourceLocation) -> ScriptedPeer {
        harness.until { !waiting.isEmpty }
        guard !waiting.isEmpty else {
            Issue.record("nobody connected", sourceLocation: sourceLocation)
            return ScriptedPeer(MemoryTransport(), in: harness) {}
        }
        return waiting.removeFirst()
    }

    /// The connections that have not been accepted.
    var unaccepted: [ScriptedPeer] { waiting }

    /// Nobody connects.
    func expectNobody(sourceLocation: SourceLocation = #_sourceLocation) {
        harness.settle()
        #expect(waiting.isEmpty, sourceLocation: sourceLocation)
    }

    /// Takes what has come.
    func move() {
        while let end = listener?.accept() { waiting.append(harness.peer(end)) }
    }

    /// Lets the connections be made that have hung until now.
    func admit() {
        for near in hanging {
            near.connect = .done
            admit(near)
        }
        hanging = []
    }

    private func admit(_ near: MemoryTransport) {
        let far = MemoryTransport()
        MemoryTransport.join(near, far)
        waiting.append(harness.peer(far))
    }

    /// Begins a connection for the worker.
    func connect() -> Result<any Events.Transport, SystemError> {
        connects += 1
        switch behaviour {
        case .isUnreachable: return .failure(SystemError(ENETUNREACH))
        case .lacksDescriptors: return .failure(SystemError(EMFILE))
        case .hangs:
            hanging.append(harness.watched(.pending))
            return .success(hanging.last!)
        case .rejects: return .success(harness.watched(.failed(ECONNREFUSED)))
        case .accepts:
            if let listener { return Socket.connect(to: listener.address).map { $0 } }
            let near = harness.watched(.done)
            admit(near)
            return .success(near)
        }
    }
}

/// The network that a harness's worker sees: whatever address it connects to, there is an upstream.
final class ScriptedNetwork: Network {
    weak var harness: ProxyHarness?
    private var upstreams: [String: ScriptedUpstream] = [:]

    /// The upstream at an address, written as in a URL.
    func upstream(_ address: String) -> ScriptedUpstream {
        if let known = upstreams[address] { return known }
        let new = ScriptedUpstream(in: harness!)
        upstreams[address] = new
        return new
    }

    func move() {
        for upstream in upstreams.values { upstream.move() }
    }

    func connect(to address: SocketAddress) -> Result<any Events.Transport, SystemError> {
        upstream("\(address)").connect()
    }
}

import Bytes
import Events
import Glibc
import Testing

@testable import Proxy

/// An upstream's address, and what becomes of those who connect to it.
final class ScriptedUpstream {
    enum Behaviour { case accepts, refuses, hangs, isUnreachable, lacksDescriptors }

    var behaviour = Behaviour.accepts
    /// How many times somebody has begun to connect.
    private(set) var connects = 0
    private unowned let scene: Scene
    private let listener: LoopbackListener?
    private var waiting: [ScriptedPeer] = []
    private var hanging: [MemoryTransport] = []

    init(in scene: Scene) {
        self.scene = scene
        listener = scene.stage == .sockets ? LoopbackListener() : nil
    }

    /// The next connection.
    func accept(sourceLocation: SourceLocation = #_sourceLocation) -> ScriptedPeer {
        scene.until { !waiting.isEmpty }
        guard !waiting.isEmpty else {
            Issue.record("nobody connected", sourceLocation: sourceLocation)
            return ScriptedPeer(MemoryTransport(), in: scene) {}
        }
        return waiting.removeFirst()
    }

    /// Nobody connects.
    func expectNobody(sourceLocation: SourceLocation = #_sourceLocation) {
        scene.settle()
        #expect(waiting.isEmpty, sourceLocation: sourceLocation)
    }

    /// Takes what has come.
    func move() {
        while let end = listener?.accept() { waiting.append(scene.peer(end)) }
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
        waiting.append(scene.peer(far))
    }

    /// Begins a connection for the worker.
    func connect() -> Result<any Transport, SystemError> {
        connects += 1
        switch behaviour {
        case .isUnreachable: return .failure(SystemError(ENETUNREACH))
        case .lacksDescriptors: return .failure(SystemError(EMFILE))
        case .hangs:
            hanging.append(scene.watched(.pending))
            return .success(hanging.last!)
        case .refuses: return .success(scene.watched(.failed(ECONNREFUSED)))
        case .accepts:
            if let listener { return Socket.connect(to: listener.address).map { $0 } }
            let near = scene.watched(.done)
            admit(near)
            return .success(near)
        }
    }
}

/// The network that a scene's worker sees: whatever address it connects to, there is an upstream.
final class ScriptedNetwork: Network {
    weak var scene: Scene?
    private var upstreams: [String: ScriptedUpstream] = [:]

    /// The upstream at an address, written as in a URL.
    func upstream(_ address: String) -> ScriptedUpstream {
        if let known = upstreams[address] { return known }
        let new = ScriptedUpstream(in: scene!)
        upstreams[address] = new
        return new
    }

    func move() {
        for upstream in upstreams.values { upstream.move() }
    }

    func connect(to address: SocketAddress) -> Result<any Transport, SystemError> {
        upstream("\(address)").connect()
    }
}

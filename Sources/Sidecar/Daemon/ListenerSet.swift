internal import Configuration
internal import Events
internal import Proxy

/// The listening sockets of all workers, kept by address through reloads.
final class ListenerSet {
    /// One listening address: a socket for each worker.
    struct Open {
        let key: Key
        let settings: ListenerSettings
        let sockets: [ListenSocket]
        /// The real address, with the port that the system chose.
        var name: String { sockets[0].localAddress }
        /// Whether systemd holds the sockets too, so that callers can connect when this process has ended.
        var isHeld: Bool {
            if case .systemd = key.address { return true }
            return sockets.allSatisfy { $0.isHeld || $0.isCopy }
        }
    }

    /// What tells sockets apart: the same address may be asked for more than once with port 0, systemd may pass
    /// several sockets under one name, and `localhost` is two addresses.
    struct Key: Hashable {
        let address: ListenAddress
        let ordinal: Int
    }

    /// What a configuration changes about the listeners; no worker knows of it yet.
    struct Change {
        var kept: [Open] = []
        var opened: [Open] = []
        var dropped: [Open] = []
    }

    /// The sockets that systemd has opened; they stay open, so that a later configuration can ask for them again.
    private let passed: [String: [ListenSocket]]
    private(set) var open: [Key: Open] = [:]
    private let stored: StoredSockets
    private let manager: ServiceManager
    private let callers = CallersGroup.own
    /// How many workers accept on each address; good until the first plan is committed.
    var workers: Int

    /// Starts without listeners.
    init(workers: Int, passed: SystemdSockets, manager: ServiceManager) {
        self.workers = workers
        self.manager = manager
        stored = StoredSockets(passed.stored, manager: manager)
        self.passed = passed.byName.mapValues { $0.map { ListenSocket(adopting: $0) } }
    }

    /// The addresses that are open.
    var addresses: Set<ListenAddress> { Set(open.keys.map(\.address)) }

    /// All listening sockets, for a process that takes the place of this one; it knows them as it knows those of systemd.
    var handedOver: [Launcher.Named] {
        let own = open.values.flatMap(\.sockets).filter { !$0.isCopy }.map {
            (name: $0.storeName, descriptor: $0.descriptor)
        }
        return own + passed.flatMap { name, sockets in sockets.map { (name: name, descriptor: $0.descriptor) } }
    }

    /// Leaves the sockets to a process that has taken them over: what this one does to them closes none of them.
    func handOver() {
        for listener in open.values { listener.sockets.forEach { $0.hold() } }
        isHandedOver = true
    }

    /// The process that has handed sockets over uses them no more.
    ///
    /// A Unix socket whose file cannot get its permissions keeps those it has.
    func own() {
        for listener in open.values {
            listener.sockets.forEach { $0.own() }
            try? listener.sockets[0].setPermissions(callers.permissions(of: listener.settings))
        }
    }

    /// A socket on an address that this process was handed and nobody else uses; none if there is none.
    func acquireHandedOver(on address: ListenAddress) -> ListenSocket? { stored.acquire(on: address) }

    /// The names of the listeners whose sockets systemd holds too.
    ///
    /// None when another process accepts on them already.
    var held: Set<String> { isHandedOver ? [] : Set(open.values.filter(\.isHeld).map(\.name)) }
    /// The names of the listeners on which another process accepts, or will when this one has ended.
    var acceptedByOthers: Set<String> { isHandedOver ? Set(open.values.map(\.name)) : held }
    private var isHandedOver = false

    /// The names of sockets that systemd has opened and none of these listeners uses.
    func unused(by listeners: [ListenerSettings]) -> [String] {
        passed.keys.filter { name in !listeners.contains { $0.address == .systemd(name: name) } }.sorted()
    }

    /// Opens what a configuration asks for and is not open yet, and gives kept files their new permissions.
    ///
    /// If any of it fails, everything stays as it is.
    func plan(_ listeners: [ListenerSettings]) throws(ListenError) -> Change {
        var change = Change()
        var sibling: ListenSocket?
        let keyed = keyed(listeners)
        stored.makeWay(for: keyed.map(\.0.address))
        for (key, settings) in keyed {
            do throws(ListenError) {
                // The second address of `localhost` comes right behind the first.
                if key.address == settings.address.expanded[0] { sibling = nil }
                if let old = open[key] {
                    change.kept.append(Open(key: key, settings: settings, sockets: old.sockets))
                    sibling = old.sockets[0]
                } else {
                    let sockets = try sockets(for: key, settings, beside: sibling)
                    change.opened.append(Open(key: key, settings: settings, sockets: sockets))
                    sibling = sockets[0]
                }
            } catch {
                undo(change)
                throw error
            }
        }
        try changePermissions(change)
        let expected = Set((change.kept + change.opened).map(\.key))
        change.dropped = open.filter { !expected.contains($0.key) }.map(\.value)
        return change
    }

    /// Changes the permissions of kept sockets, all of them or none.
    private func changePermissions(_ change: Change) throws(ListenError) {
        var changed: [Open] = []
        for new in change.kept {
            let permissions = callers.permissions(of: new.settings)
            guard let old = open[new.key], callers.permissions(of: old.settings) != permissions else { continue }
            do throws(ListenError) {
                try new.sockets[0].setPermissions(permissions)
                changed.append(old)
            } catch {
                for old in changed { try? old.sockets[0].setPermissions(callers.permissions(of: old.settings)) }
                undo(change)
                throw error
            }
        }
    }

    private func keyed(_ listeners: [ListenerSettings]) -> [(Key, ListenerSettings)] {
        Self.keyed(listeners) { passed[$0]?.count ?? 0 }
    }

    /// The keys of listeners on this machine, with the settings of each.
    ///
    /// - Parameters:
    ///   - listeners: the listeners.
    ///   - count: how many sockets systemd has passed under a name.
    /// - Returns: the keys in the order of the listeners: a reload keeps the sockets of one that was there before.
    static func keyed(_ listeners: [ListenerSettings], passed count: (String) -> Int) -> [(Key, ListenerSettings)] {
        var seen: [ListenAddress: Int] = [:]
        return listeners.flatMap { settings in
            settings.address.available.flatMap { address in
                let first = seen[address, default: 0]
                var sockets = 1
                if case .systemd(let name) = address { sockets = max(1, count(name)) }
                seen[address] = first + sockets
                return (first..<first + sockets).map { (Key(address: address, ordinal: $0), settings) }
            }
        }
    }

    /// Takes a plan back: what it opened is closed, or stays with systemd for the next plan.
    func undo(_ change: Change) {
        for listener in change.opened { listener.sockets.forEach(stored.close) }
    }

    /// Takes a planned change on; the sockets it drops are closed by `close` once no worker uses them.
    func commit(_ change: Change) {
        open = Dictionary((change.kept + change.opened).map { ($0.key, $0) }) { first, _ in first }
    }

    /// Sockets that nobody accepts on and where callers may wait, until the first change is settled.
    var surplus: [ListenSocket] { stored.surplus(of: open.values) }

    /// Ends a change that all workers have made: what it drops is closed for good, and systemd holds what is in use.
    func settle(_ change: Change) {
        for listener in change.dropped { listener.sockets.forEach(stored.discard) }
        stored.settle(open.values)
    }

    /// The open listeners in the order of a configuration that goes for all of them.
    func inOrder(of settings: Settings?) -> [Open] {
        keyed(settings?.listeners ?? []).compactMap { key, _ in open[key] }
    }

    /// Which sockets close when the service is restarted, for people; nil if none does.
    var shortageOfStore: String? { stored.shortage(open.values) }

    /// Closes all sockets but those of some listeners; no worker uses them any more.
    ///
    /// Callers can still connect to those that systemd holds.
    func close(except names: Set<String> = []) {
        for listener in open.values where !names.contains(listener.name) { listener.sockets.forEach { $0.close() } }
    }

    private func sockets(
        for key: Key,
        _ settings: ListenerSettings,
        beside sibling: ListenSocket?
    ) throws(ListenError) -> [ListenSocket] {
        let permissions = callers.permissions(of: settings)
        var sockets = stored.sockets(on: key.address, atMost: workers)
        if case .systemd(let name) = key.address, let passed = passed[name], key.ordinal < passed.count {
            sockets = [try passed[key.ordinal].another()]
        } else if let first = sockets.first {
            if manager.isMain { try first.setPermissions(permissions) }
        } else {
            let reusePort = workers > 1
            sockets = [try .open(key.address, beside: sibling, reusePort: reusePort, permissions: permissions)]
        }
        // With a queue of its own a socket would get callers whom nobody serves until it is the turn of this process.
        let isLent = !manager.isMain && sockets[0].isHeld
        while sockets.count < workers { sockets.append(try isLent ? sockets[0].copied() : sockets[0].another()) }
        return sockets
    }
}

extension Worker {
    /// Goes over to the listeners of a new configuration; `index` is this worker's.
    func apply(_ change: ListenerSet.Change, index: Int) {
        for listener in change.dropped { stopListening(listener.name) }
        for listener in change.kept { update(listener: listener.name, settings: listener.settings) }
        for listener in change.opened {
            listen(on: listener.sockets[index].descriptor, name: listener.name, settings: listener.settings)
        }
    }

    /// Takes the callers that wait on sockets of an earlier process, which had more workers, and closes those to others.
    func acceptWaiting(on surplus: [ListenSocket]) {
        for socket in surplus {
            acceptWaiting(on: socket.descriptor, listener: socket.localAddress)
            socket.shutDown()
        }
    }
}

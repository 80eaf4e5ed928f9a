internal import Configuration
internal import Events
internal import Proxy

/// The listening sockets of all workers, kept by address through reloads.
final class ListenerSet {
    /// One listener: a socket for each worker.
    struct Open {
        let settings: ListenerSettings
        let sockets: [ListenSocket]
        /// The real address, with the port that the system chose.
        var name: String { sockets[0].localAddress }
    }

    /// What a configuration changes about the listeners; nothing is changed yet.
    struct Change {
        var kept: [Open] = []
        var opened: [Open] = []
        var dropped: [Open] = []
    }

    private let passed: SystemdSockets
    private(set) var open: [ListenAddress: Open] = [:]
    private let workers: Int

    /// Starts without listeners; `passed` are the sockets that systemd has opened.
    init(workers: Int, passed: SystemdSockets) {
        self.workers = workers
        self.passed = passed
    }

    /// Opens what a configuration asks for and is not open yet; if that fails, everything stays as it is.
    func plan(_ listeners: [ListenerSettings]) throws(ListenError) -> Change {
        var change = Change()
        for settings in listeners {
            if let old = open[settings.address] {
                change.kept.append(Open(settings: settings, sockets: old.sockets))
            } else {
                do throws(ListenError) {
                    change.opened.append(Open(settings: settings, sockets: try sockets(for: settings)))
                } catch {
                    for listener in change.opened { listener.sockets.forEach { $0.close() } }
                    throw error
                }
            }
        }
        let wanted = Set(listeners.map(\.address))
        change.dropped = open.filter { !wanted.contains($0.key) }.map(\.value)
        return change
    }

    /// Takes a planned change on; the sockets it drops are closed by `close` once no worker uses them.
    func commit(_ change: Change) {
        open = Dictionary((change.kept + change.opened).map { ($0.settings.address, $0) }) { first, _ in first }
    }

    /// Closes sockets that no worker uses any more.
    func close(_ listeners: [Open]) {
        for listener in listeners { listener.sockets.forEach { $0.close() } }
    }

    private func sockets(for settings: ListenerSettings) throws(ListenError) -> [ListenSocket] {
        var sockets: [ListenSocket]
        if case .systemd(let name) = settings.address, let descriptors = passed.byName[name] {
            sockets = descriptors.map { ListenSocket(adopting: $0) }
        } else {
            let first = try ListenSocket.open(settings.address, reusePort: workers > 1, permissions: settings.permissions)
            sockets = [first]
        }
        while sockets.count < workers { sockets.append(try sockets[0].another()) }
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
}

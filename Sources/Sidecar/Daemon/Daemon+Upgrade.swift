internal import Configuration
internal import Events
internal import Proxy
internal import Time

/// How a new process of the program takes the place of this one, without a lost call.
///
/// ```
/// old:  launch ─────────────────▶ wait ──▶ hand over ──▶ drain ──▶ end
/// new:         load, open, fetch tokens ──▶ ready ··· go ──▶ accept calls
/// ```
/// Both have the same listening sockets: callers that connect in between wait in the queue. A new process that fails, or is
/// not ready in time, changes nothing.
extension Daemon {
    typealias UpgradeCompletion = (Result<Int32, ConfigurationFile.Rejection>) -> Void

    /// Starts the program anew; `then` is told its process, once that has taken over, or why it has not.
    func upgrade(within limit: Duration, then: @escaping UpgradeCompletion) {
        if let upgradeObstacle { return then(.failure(.init(lines: [upgradeObstacle]))) }
        let sockets = (listeners?.handedOver ?? []) + admin.servers.flatMap(\.handedOver)
        guard sockets.count <= Launcher.maxSockets else {
            let problem =
                "there are \(sockets.count) listening sockets, and an upgrade hands over \(Launcher.maxSockets)"
            return then(.failure(.init(lines: ["\(problem); restart instead"])))
        }
        guard let (ours, theirs) = StatusChannel.pair(), let launcher else {
            return then(.failure(.init(lines: ["there are no file descriptors left"])))
        }
        switch theirs.launch(by: launcher, with: sockets) {
        case .failure(let error):
            then(.failure(.init(lines: ["the new process cannot be started: \(error.text)"])))
        case .success(let process):
            log.log(.info, "upgrading", ("pid", "\(process)"))
            upgrade = Upgrade(process, ours, on: loop, limit: limit, kill: launcher.killLast) { [unowned self] in
                upgraded($0, then)
            }
        }
    }

    /// Why this process cannot be replaced now; none if it can.
    private var upgradeObstacle: String? {
        if job != nil { return "Martlet runs a program, and ends with it" }
        if launcher == nil { return "the first process of a container cannot be replaced; start a new container" }
        if isDraining { return "the daemon is draining" }
        if upgrade != nil { return "an upgrade is under way" }
        if workers == nil || isWaitingForTurn { return "the daemon does not serve yet" }
        return reloadQueue.isUnderWay ? "a reload is under way" : nil
    }

    private func upgraded(_ result: Result<Int32, ConfigurationFile.Rejection>, _ then: @escaping UpgradeCompletion) {
        switch result {
        case .failure(let failure):
            upgrade = nil
            for line in failure.lines { log.log(.error, "upgrade failed", ("reason", line)) }
            then(result)
        case .success(let process):
            handOver(to: process) { then(result) }
        }
    }

    private func handOver(to process: Int32, then: @escaping () -> Void) {
        log.log(.info, "upgraded", ("pid", "\(process)"))
        listeners?.handOver()
        for server in admin.servers { server.handOver() }
        manager.handOver(to: process)
        workers?.post { $0.stopAccepting() }
        // A caller that connects from now on gets to the new process.
        workers?.ask({ _ in true }) { [self] _ in
            upgrade?.giveTurn()
            then()
            drain()
        }
    }

    /// Waits until this process can serve and the one before it accepts no more; then has the workers accept calls.
    func replace(_ predecessor: Predecessor, _ change: ListenerSet.Change, then: @escaping () -> Void) {
        whenReady(until: .max) { [self] _ in
            predecessor.ready(on: loop) { [self] in
                isWaitingForTurn = false
                manager.isMain = true
                listeners?.own()
                for server in admin.servers { server.own() }
                workers?.post(each: { index in { $0.apply(change, index: index) } })
                workers?.ask({ _ in true }, within: nil) { [self] _ in
                    settle(change)
                    then()
                }
            }
        }
    }
}

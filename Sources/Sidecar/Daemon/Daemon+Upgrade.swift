internal import Configuration
internal import Events
internal import Proxy
internal import Time

/// How a new process of the program takes the place of this one, without a lost call.
///
/// ```
/// old:  launch ──────▶ wait ────▶ "serve" ─▶ wait ────▶ accept no more ─▶ "own" ─▶ drain ─▶ end
/// new:  load, fetch tokens ─▶ "ready"    accept calls ─▶ "serving"                own the sockets
/// ```
/// Both have the same listening sockets, so nobody is turned away in between. A new process that fails, or does not serve in
/// time, changes nothing.
extension Daemon {
    typealias UpgradeCompletion = (Result<Int32, ConfigurationFile.Rejection>) -> Void

    /// Starts the program anew; `then` is told its process, once that has taken over, or why it has not.
    func upgrade(within limit: Duration, then: @escaping UpgradeCompletion) {
        let launcher: Launcher
        switch successor {
        case .success(let found): launcher = found
        case .failure(let rejection): return then(.failure(rejection))
        }
        let sockets = (listeners?.handedOver ?? []) + admin.servers.flatMap(\.handedOver)
        guard sockets.count <= Launcher.maxSockets else {
            let problem =
                "there are \(sockets.count) listening sockets, and an upgrade hands over \(Launcher.maxSockets)"
            return then(.failure(.init(lines: ["\(problem); restart instead"])))
        }
        guard let (ours, theirs) = StatusChannel.pair() else {
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

    /// What can start the program anew now, or why it cannot be.
    private var successor: Result<Launcher, ConfigurationFile.Rejection> {
        func rejected(_ reason: String) -> Result<Launcher, ConfigurationFile.Rejection> {
            .failure(.init(lines: [reason]))
        }
        if isDraining { return rejected("the daemon is draining") }
        if upgrade != nil { return rejected("an upgrade is under way") }
        if workers == nil || isWaitingForTurn { return rejected("the daemon does not serve yet") }
        if reloadQueue.isUnderWay { return rejected("a reload is under way") }
        if successions.hasLostLauncher { return rejected("\(Successions.launcherEnded); restart Martlet instead") }
        return successions.launcher
    }

    /// Logs that this process cannot be replaced any more, when that is so.
    func watchLauncher() {
        guard case .success(let launcher) = successions.launcher else { return }
        launcher.watch(on: loop) { [log] in
            log.log(.warn, "no upgrade until a restart", ("reason", Successions.launcherEnded))
        }
    }

    /// Whether another process is about to take the place of this one, or this one that of another.
    var isBesideAnother: Bool { upgrade != nil || isWaitingForTurn }

    /// Whether another process has the place of this one, which only ends the calls that it has.
    var isReplaced: Bool { upgrade?.isPending == false }

    private func upgraded(_ result: Result<Int32, ConfigurationFile.Rejection>, _ then: @escaping UpgradeCompletion) {
        switch result {
        case .failure(let failure):
            upgrade = nil
            for line in failure.lines { log.log(.error, "upgrade failed", ("reason", line)) }
            then(result)
            guard ending.exit == nil else { return }
            if ending.isDue { return drain() }
            if reloadQueue.takeDue() { reload() }
        case .success(let process):
            handOver(to: process) { then(result) }
        }
    }

    private func handOver(to process: Int32, then: @escaping () -> Void) {
        log.log(.info, "upgraded", ("pid", "\(process)"))
        listeners?.handOver()
        for server in admin.servers { server.handOver() }
        manager.handOver(to: process)
        // The file is that of the new process.
        fileWatch.take()?.end()
        workers?.post { $0.stopAccepting() }
        // A caller that connects from now on gets to the new process.
        workers?.ask({ _ in true }) { [self] _ in
            upgrade?.complete(stops: ending.isDue)
            then()
            drain()
        }
    }

    /// Waits until this process can serve; then does what the process before it says.
    ///
    /// `then` is called when this process is the only one.
    func replace(_ predecessor: Predecessor, _ change: ListenerSet.Change, then: @escaping () -> Void) {
        predecessor.listen(on: loop) { [self] message in
            switch message {
            case .serve:
                workers?.post(each: { index in { $0.apply(change, index: index) } })
                workers?.ask({ _ in true }, within: nil) { _ in predecessor.send(.serving) }
            case .own: own(change, then)
            case .stop: requestEnd()
            case nil:
                log.log(.error, "upgrade given up", ("reason", "the other process has ended, or serves on"))
                stop(.failure)
            }
        }
        whenReady(until: .max) { _ in predecessor.send(.ready) }
    }

    private func own(_ change: ListenerSet.Change, _ then: () -> Void) {
        isWaitingForTurn = false
        manager.isMain = true
        listeners?.own()
        for server in admin.servers { server.own() }
        settle(change)
        // It may have been told to stop before it was the main process, which is what systemd listens to.
        if let drain = ending.drain { manager.stopping(within: drain.limit) } else { then() }
        if reloadQueue.takeDue() { reload() }
    }
}

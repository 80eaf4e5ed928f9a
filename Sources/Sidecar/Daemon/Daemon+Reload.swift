internal import Configuration
internal import Events
internal import Proxy

/// How the file is loaded again: as a whole, or not at all.
extension Daemon {
    typealias ReloadCompletion = (Result<Int, ConfigurationFile.Rejection>) -> Void

    /// Loads the file again; `then` is told the new generation, or what is wrong with the file.
    ///
    /// What is asked for while a reload is under way is one more after it: until all workers go by a file, the sockets of
    /// the one before are still open.
    func reload(then: @escaping ReloadCompletion = { _ in }) {
        guard !isDraining else { return reject(["\(file.name): the daemon is draining"], then) }
        guard pendingStart.loaded == nil else { return startAgain() }
        if isBesideAnother { return reject(["\(file.name): an upgrade is under way"], then) }
        if let healthProblem { return reject(["\(file.name): \(healthProblem)"], then) }
        guard !reloadQueue.waitBehind(then) else { return }
        manager.reloading()
        sandbox.listeners = listeners?.addresses
        do throws(ConfigurationFile.Rejection) {
            let loaded = try file.load(toServe: true, within: sandbox)
            try file.checkPlaces(of: loaded)
            let change = try plan(loaded.plan.settings)
            noteFixed(loaded.plan.settings)
            apply(loaded, change) { [self] number in
                for listener in change.opened { log.log(.info, "listening", ("address", listener.name)) }
                log.log(.info, "reloaded", ("generation", "\(number)"))
                manager.ready("serving, generation \(number)")
                reloadQueue.succeed()?(.success(number))
            }
            reloadQueue.wait(then)
        } catch {
            reject(error.lines, then)
        }
    }

    private func reject(_ lines: [String], _ then: ReloadCompletion) {
        reloads.rejected(lines)
        log.log(.error, "reload rejected", ("file", file.name), ("errors", "\(lines.count)"))
        for line in lines { log.log(.error, line) }
        if !isDraining { manager.ready("serving, generation \(reloads.generation); the last reload was rejected") }
        then(.failure(.init(lines: lines)))
    }

    /// A worker is stuck, or is no longer.
    ///
    /// Nobody waits for a worker that is stuck to go by a new configuration: it will when it turns again.
    func healthChanged() {
        if let healthProblem {
            let waiting = reloadQueue.abandon()
            guard !waiting.isEmpty else { return }
            manager.ready("serving; \(healthProblem)")
            for then in waiting { then(.failure(.init(lines: ["\(file.name): \(healthProblem)"]))) }
        } else if reloadQueue.takeDue() {
            reload()
        }
    }

    /// Starts with what the file says now, before the pause is over.
    private func startAgain() {
        do throws(ConfigurationFile.Rejection) {
            let loaded = try file.load(toServe: true, within: sandbox)
            pendingStart.timer?.cancel()
            pendingStart.retry = StartRetry()
            noteFixed(loaded.plan.settings)
            attemptStart(loaded)
        } catch {
            for line in error.lines { log.log(.error, line) }
        }
    }

    private func plan(_ settings: Settings) throws(ConfigurationFile.Rejection) -> ListenerSet.Change {
        do throws(ListenError) {
            return try listeners!.plan(settings.listeners)
        } catch {
            throw ConfigurationFile.Rejection(lines: ["\(file.name): \(error)"])
        }
    }

    /// What is fixed at start is not changed by a reload, and somebody should know.
    private func noteFixed(_ settings: Settings) {
        let ours = FixedSettings(
            workers: workers?.count,
            admin: workers == nil ? nil : admin.settings,
            coreDumps: Crash.dumpsCore,
            sandbox: sandbox.settings
        )
        let changed = ours.keys(changedBy: FixedSettings(settings))
        for key in changed { log.log(.warn, "a change of \(key) requires a restart") }
        reloads.needsRestart = changed
    }
}

internal import Configuration
internal import Events
private import Glibc
internal import Proxy
internal import Telemetry
internal import Time

/// The signals of the daemon, and how it ends.
extension Daemon {
    static let allSignals = [SIGHUP, SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD]

    func signal(_ number: Int32) {
        switch number {
        case SIGHUP: reload()
        case SIGCHLD: Children.reapOrphans()
        // It came just before the program began.
        case _ where job?.isRunning ?? false: job?.send(number)
        case SIGUSR1: lineWriters.reopen()
        case SIGUSR2: dump()
        case SIGQUIT: stop(.failure)
        // It is for the new process: systemd sends it to all of the service, and again to those that are left.
        case SIGTERM where isReplaced: break
        case SIGTERM where upgrade?.isTurning == true: drain()
        default:
            if ending.hasSignal || isReplaced { return stop(.failure) }
            ending.hasSignal = true
            if workers == nil { stop(.success) } else { drain() }
        }
    }

    private func dump() {
        ask { [self] report in
            log.log(
                .info,
                "state",
                ("generation", "\(reloads.generation)"),
                ("in_flight", "\(report.counters.inFlight)"),
                ("connections", "\(report.connections)"),
                ("draining", "\(isDraining)")
            )
        }
    }

    /// Stops in order; `DrainSteps` says how.
    ///
    /// A new process that may accept calls already takes the place of this one first.
    func drain() {
        if let upgrade, upgrade.isTurning {
            if !ending.isDue { upgrade.hurry() }
            ending.isDue = true
            return
        }
        guard ending.drain == nil, let settings, let workers, let listeners else { return }
        let (least, most) = (settings.drain.min.text, settings.drain.max?.text ?? "none")
        log.log(.info, "draining", ("min", least), ("max", most))
        let drain = Drain(settings.drain, loop: loop, workers: workers, listeners: listeners, log: log) {
            [unowned self] in
            ending.isDrained = true
            stop($0)
        }
        ending.drain = drain
        manager.stopping(within: drain.limit)
        upgrade?.abandon("the daemon is draining")
    }

    func stop(_ exit: Exit) {
        ending.exit = exit
        upgrade?.abandon("the daemon stops")
        admin.streams.endAll()
        // After this turn, in which the ends of the streams go out.
        loop.stop()
    }

    func finish() -> Exit {
        credentials?.manager.end()
        reflection?.end()
        health?.end()
        let (stuck, reports) = workers?.stop(Report.init) ?? ([], [:])
        guard stuck.isEmpty else {
            // It may use anything still, so nothing is taken down.
            let names = stuck.joined(separator: ", ")
            log.log(.error, "stopped", ("reason", healthProblem ?? "\(names) did not stop"))
            lineWriters.finish()
            Exit.atOnce(job?.status.map(Exit.init(code:)) ?? .failure)
        }
        // Calls that were cut off have spans and are counted, too.
        if ending.isDrained { flushTelemetry(merged(reports)) }
        spans?.end()
        metrics?.end()
        listeners?.close()
        if workers != nil { log.log(.info, "stopped") }
        lineWriters.finish()
        // Last of all: who waits for the end goes by these.
        for server in admin.servers { server.close() }
        guard let job else { return ending.exit ?? .success }
        return job.status.map(Exit.init(code:)) ?? .failure
    }
}

internal import Configuration
internal import Events
private import Glibc
internal import Time

/// How the program of `martlet exec` begins and ends.
extension Daemon {
    /// Begins the program when the daemon is ready, or when that takes too long.
    func beginJob(_ run: JobRun) {
        whenReady(until: loop.now + (run.wait ?? .zero)) { [self] readiness in
            if !readiness.isReady, run.mustBeReady {
                log.log(.error, "program not started", ("reason", "Martlet is not ready: \(readiness.text)"))
                return stop(.failure)
            }
            if !readiness.isReady, run.wait != nil {
                log.log(.warn, "program starts before Martlet is ready", ("reason", readiness.text))
            }
            begin(run.job)
        }
    }

    private func begin(_ job: Job) {
        // As they are now: there may have been reloads meanwhile.
        job.begin(Self.variables(listeners?.inOrder(of: settings) ?? []), on: loop) { [unowned self] in jobEnded(job) }
        log.log(.info, "program started", ("program", job.command[0]))
    }

    private func jobEnded(_ job: Job) {
        log.log(.info, "program ended", ("program", job.command[0]), ("status", "\(job.status ?? -1)"))
        drain()
    }

    /// Does what SIGTERM does: the program is asked to end where there is one, or the daemon stops.
    func requestEnd() {
        if let job, job.isRunning { job.send(SIGTERM) } else { drain() }
    }

    /// The variables that say where the program can call.
    ///
    /// `MARTLET_ADDRESS_1` and so on are the addresses of the listeners in the order of the file, and `MARTLET_ADDRESS` is the
    /// first of them.
    private static func variables(_ listeners: [ListenerSet.Open]) -> [(name: String, value: String)] {
        // `localhost` is two sockets.
        let names = listeners.filter { $0.key.address == $0.settings.address.available.first }.map(\.name)
        let numbered = names.enumerated().map { (name: "MARTLET_ADDRESS_\($0.offset + 1)", value: $0.element) }
        return names.prefix(1).map { (name: "MARTLET_ADDRESS", value: $0) } + numbered
    }
}

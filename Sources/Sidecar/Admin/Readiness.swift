internal import Events
internal import Time

/// Whether new calls should be sent to the daemon, and if not, why.
struct Readiness {
    /// Whether it serves calls, and has all credentials and types.
    let isReady: Bool
    /// `ready`, or what is missing: one line for people.
    let text: String
}

extension Daemon {
    /// How often it is looked whether the daemon is ready, for who waits for that.
    private static let readinessInterval = 20 * Duration.millisecond

    /// Calls `then` as soon as the daemon is ready, or at `latest` if it is not; never once it drains.
    func whenReady(until latest: Instant, _ then: @escaping (Readiness) -> Void) {
        readinessTimer = nil
        guard !isDraining else { return }
        let readiness = readiness
        guard !readiness.isReady, loop.now < latest else { return then(readiness) }
        let timer = Timer(on: loop.timers) { [unowned self] in whenReady(until: latest, then) }
        readinessTimer = timer
        timer.arm(after: min(Self.readinessInterval, latest - loop.now))
    }

    /// What `/readyz` and the first line of `/status` say.
    var readiness: Readiness {
        if isDraining { return Readiness(isReady: false, text: "draining") }
        if let healthProblem { return Readiness(isReady: false, text: healthProblem) }
        let missing = missingCredentials
        guard missing.isEmpty else {
            return Readiness(isReady: false, text: "missing credentials: \(missing.joined(separator: ", "))")
        }
        if let missingTypes { return Readiness(isReady: false, text: missingTypes) }
        return Readiness(isReady: true, text: "ready")
    }
}

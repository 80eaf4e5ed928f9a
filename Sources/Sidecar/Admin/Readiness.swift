/// Whether new calls should be sent to the daemon, and if not, why.
struct Readiness {
    /// Whether it serves calls, and has all credentials and types.
    let isReady: Bool
    /// `ready`, or what is missing: one line for people.
    let text: String
}

extension Daemon {
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

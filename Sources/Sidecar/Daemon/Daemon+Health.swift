internal import Proxy

/// The health checks of upstreams.
extension Daemon {
    /// Checks from now on what a configuration asks for.
    func checkHealth(_ plan: Plan) {
        guard health != nil || !plan.health.isEmpty else { return }
        let checker =
            health
            ?? HealthChecker(
                loop: loop,
                shared: budgets.shared,
                token: { [unowned self] in credentials?.value(named: $0) },
                log: { [log] in log.log($0) }
            )
        health = checker
        checker.use(plan)
    }
}

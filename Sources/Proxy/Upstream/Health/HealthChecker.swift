internal import Configuration
package import Events

/// Checks the addresses of upstreams for all workers.
///
/// Belongs to one thread.
package final class HealthChecker {
    private let shared: SharedStore
    private let logLimiter: LogLimiter
    private let token: (String) -> [UInt8]?
    private let context: WireContext
    private let names: NameService
    private var upstreams: [UpstreamChecks] = []

    /// Makes one that checks nothing yet.
    ///
    /// - Parameters:
    ///   - loop: the loop of the thread.
    ///   - shared: what the workers share.
    ///   - token: the value that the credential with a name has now.
    ///   - log: receives what an operator should know.
    package init(
        loop: EventLoop,
        shared: SharedStore,
        token: @escaping (String) -> [UInt8]?,
        log: @escaping (LogMessage) -> Void
    ) {
        (self.shared, self.token) = (shared, token)
        logLimiter = LogLimiter(loop: loop, log: log)
        context = WireContext(loop: loop)
        names = NameService(loop: loop)
    }

    /// Goes over to a configuration: what it does not change goes on.
    package func use(_ plan: Plan) {
        let old = upstreams
        upstreams = plan.health.map { plan in old.first { $0.plan == plan } ?? make(plan) }
        for gone in old where !upstreams.contains(where: { $0 === gone }) {
            gone.end(isLast: !upstreams.contains { $0.plan.upstream.name == gone.plan.upstream.name })
        }
    }

    /// Checks nothing any more.
    package func end() {
        for upstream in upstreams { upstream.end(isLast: false) }
        upstreams = []
    }

    private func make(_ plan: HealthPlan) -> UpstreamChecks {
        let name = plan.upstream.name
        let table = shared.object(name, make: { AddressTable(name) })
        return UpstreamChecks(plan, table, context: context, names: names, token: token, logLimiter: logLimiter)
    }
}

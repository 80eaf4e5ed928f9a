internal import Telemetry

/// What a worker does when file descriptors run short.
extension Worker {
    /// Has the keeper of descriptors look for idle connections on this worker's listeners.
    func keepDescriptors() {
        guard let keeper = context.descriptors else { return }
        keeper.acceptors = { [unowned self] in acceptors.values.map(\.acceptor) }
        keeper.closed = { [unowned self, unowned keeper] in closed($0, by: keeper) }
    }

    /// Closes the idle connections that have been so longest, since another worker has none.
    package func closeIdleConnections() {
        guard let keeper = context.descriptors else { return }
        _ = keeper.closeIdle(max(1, keeper.budget.excess + 1))
    }

    private func closed(_ count: Int, by keeper: DescriptorKeeper) {
        logLimiter.note(
            "file descriptors run short; closing the connections that are idle longest",
            about: "",
            [
                ("closed", "\(count)"),
                ("callers", "\(keeper.budget.used)"),
                ("limit", "\(keeper.budget.limit)"),
            ]
        )
    }

    /// A connection was answered with an error, since no other is idle.
    func rejectedForDescriptors(listener: String) {
        counters.limitHit(.descriptors)
        logLimiter.note(
            "file descriptors run short, and no connection is idle; rejecting callers",
            about: "",
            [
                ("callers", "\(context.descriptors?.budget.used ?? 0)"),
                ("limit", "\(context.descriptors?.budget.limit ?? 0)"),
                ("listener", listener),
            ]
        )
    }

    /// A connection could not be taken; it waits in the kernel's queue.
    func ranOutOfDescriptors(listener: String) {
        counters.limitHit(.descriptors)
        logLimiter.note("out of file descriptors; not accepting connections", about: "", [("listener", listener)])
    }
}

/// Where a test plays: over queues in memory, or over real sockets on the loopback.
enum Stage: CaseIterable {
    case memory, sockets
}

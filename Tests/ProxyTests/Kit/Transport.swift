/// Where a test plays: over queues in memory, or over real sockets on the loopback.
enum Transport: CaseIterable {
    case memory, sockets
}

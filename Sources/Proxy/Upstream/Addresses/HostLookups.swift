internal import Configuration
internal import Resolver

/// Looks up a list of hosts, a few at a time, so that a long list does not flood the DNS server.
///
/// Belongs to the worker's thread.
final class HostLookups {
    /// Looks up one host.
    typealias Resolve = (HostPort, @escaping Resolver.Completion) -> Void

    /// The maximum number of hosts that are looked up at a time.
    static let maxAtOnce = 16

    private var remaining: ArraySlice<HostPort>
    private var inFlight = 0
    private var isStarting = false
    private let resolve: Resolve
    private let onResult: (HostPort, Result<Resolution, ResolverError>) -> Void
    private let onEnd: () -> Void

    /// Creates look-ups that have not begun.
    ///
    /// - Parameters:
    ///   - hosts: The hosts in the order in which they are looked up.
    ///   - resolve: The look-up of one host, which may complete before it returns.
    ///   - onResult: Called with the result for each host.
    ///   - onEnd: Called after the last result.
    init(
        _ hosts: [HostPort],
        resolve: @escaping Resolve,
        onResult: @escaping (HostPort, Result<Resolution, ResolverError>) -> Void,
        onEnd: @escaping () -> Void
    ) {
        remaining = hosts[...]
        (self.resolve, self.onResult, self.onEnd) = (resolve, onResult, onEnd)
    }

    /// Begins the first look-ups; each of the others begins when one ends.
    func start() {
        // Look-ups that complete immediately must not nest.
        guard !isStarting else { return }
        isStarting = true
        while inFlight < Self.maxAtOnce, let host = remaining.popFirst() {
            inFlight += 1
            resolve(host) { [self] result in
                inFlight -= 1
                onResult(host, result)
                start()
            }
        }
        isStarting = false
        if inFlight == 0 { onEnd() }
    }
}

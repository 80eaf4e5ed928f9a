internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Time

/// The making of one connection: finds the addresses and tries them in turn.
///
/// A dial begins at the end of the turn in which a call needs it: a call that ends in the same turn needs none.
final class Dial: UpstreamConnection.Owner, EndOfTurn {
    private let pool: Pool
    private let upstream: Upstream
    /// Where it leads to; none if the name of the upstream says so.
    private let place: SocketAddress?
    private var addresses: ArraySlice<SocketAddress> = []
    private var connection: UpstreamConnection?
    private var timer: Timer?
    private var lastError = UpstreamError.connectTimeout
    private var roomTimer: Timer?
    /// When its steps were over, as far as they were.
    private(set) var times: ConnectionTimes
    /// Whether the dial has begun.
    private(set) var hasBegun = false
    /// Whether it is known where the connection leads to.
    private var isResolved = false
    /// How often it has been waited for a descriptor.
    private var waits = 0

    /// How often it is waited for a descriptor, and how long: until idle connections of callers are closed, here or on
    /// another worker.
    private static let maxWaits = 5
    private static let wait = Duration.millisecond

    init(for pool: Pool, of upstream: Upstream, at place: SocketAddress?) {
        self.pool = pool
        self.upstream = upstream
        self.place = place
        times = ConnectionTimes(at: upstream.context.loop.now)
        timer = Timer(on: upstream.context.loop.timers) { [unowned self] in timedOut() }
    }

    func endOfTurn() {
        guard timer != nil else { return }
        hasBegun = true
        times = ConnectionTimes(at: upstream.context.loop.now)
        timer?.arm(after: upstream.settings.timeouts.connect)
        if let place {
            addresses = [place]
            isResolved = true
            return tryNext()
        }
        upstream.dnsCache.find { [self] result in
            guard timer != nil else { return }
            times.resolved = upstream.context.loop.now
            switch result {
            case .success(let found):
                isResolved = true
                addresses = found[...]
                tryNext()
            case .failure(let error):
                finish(.failure(.unknownHost(error)))
            }
        }
    }

    /// Gives up; the upstream is told nothing.
    func cancel() {
        roomTimer?.cancel()
        timer?.cancel()
        timer = nil
        connection?.close()
        connection = nil
    }

    private func tryNext() {
        guard let address = addresses.popFirst() else { return finish(.failure(lastError)) }
        timer?.arm(after: upstream.settings.timeouts.connect)
        switch upstream.network.connect(to: address) {
        case .failure(let error):
            lastError = .connect(address, error)
            if error.isLackOfDescriptors, awaitDescriptor(for: address) { return }
            tryNext()
        case .success(let transport):
            let secured = upstream.secured(transport, for: pool.version)
            connection = UpstreamConnection(
                secured,
                to: address,
                speaking: pool.version,
                of: upstream,
                since: times,
                owner: self
            )
        }
    }

    /// Has idle connections of callers closed, and tries the address again then.
    private func awaitDescriptor(for address: SocketAddress) -> Bool {
        guard let descriptors = upstream.context.descriptors, waits < Self.maxWaits else { return false }
        waits += 1
        addresses = [address] + addresses
        descriptors.makeRoomSoon()
        let timer = roomTimer ?? Timer(on: upstream.context.loop.timers) { [unowned self] in tryNext() }
        roomTimer = timer
        timer.arm(after: Self.wait)
        return true
    }

    private func timedOut() {
        roomTimer?.disarm()
        lastError = .connectTimeout
        let connection = connection
        self.connection = nil
        connection?.close()
        tryNext()
    }

    func connectFinished(_ connection: UpstreamConnection, errno: Int32) {
        guard errno != 0 else {
            upstream.dnsCache.connected(to: connection.address)
            return finish(.success(connection))
        }
        self.connection = nil
        times.connected = max(times.resolved, connection.security?.connectedAt ?? .start)
        lastError =
            connection.security?.error.map { .security(connection.address, $0) }
            ?? .connect(connection.address, SystemError(errno))
        connection.close()
        tryNext()
    }

    func hasRoom(_ connection: UpstreamConnection) {}

    func aged(_ connection: UpstreamConnection) {}

    /// The connection ended before it came into use.
    func closed(_ connection: UpstreamConnection) {
        guard timer != nil, connection === self.connection else { return }
        self.connection = nil
        lastError = connection.error
        tryNext()
    }

    private func finish(_ result: Result<UpstreamConnection, UpstreamError>) {
        if case .failure = result { times.failed(at: upstream.context.loop.now, isResolved: isResolved) }
        roomTimer?.cancel()
        timer?.cancel()
        timer = nil
        connection = nil
        pool.finished(self, result)
    }
}

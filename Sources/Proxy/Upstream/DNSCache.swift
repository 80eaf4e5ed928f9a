internal import Bytes
internal import Configuration
internal import Events
internal import Resolver
internal import Time

/// The addresses of one upstream: where a name stands behind them, for as long as its TTL says.
final class DNSCache {
    typealias Completion = (Result<[SocketAddress], ResolverError>) -> Void

    private let endpoint: UpstreamURL.Endpoint
    private let names: NameService
    private let loop: EventLoop
    private var addresses: [SocketAddress] = []
    private var expires = Instant.min
    private var waiting: [Completion] = []
    /// The place of the address that is tried first, the one that worked last.
    private var first = 0

    init(_ endpoint: UpstreamURL.Endpoint, names: NameService, loop: EventLoop) {
        self.endpoint = endpoint
        self.names = names
        self.loop = loop
    }

    /// Finds the addresses, in the order in which they are to be tried; at once if they are known.
    func find(_ completion: @escaping Completion) {
        guard addresses.isEmpty || expires <= loop.now else { return completion(.success(inTurn)) }
        switch endpoint {
        case .unix(let path):
            store(SocketAddress.unix(path: path).map { [$0] } ?? [], until: .max)
            completion(.success(addresses))
        case .tcp(let address):
            waiting.append(completion)
            guard waiting.count == 1 else { return }
            names.resolve(address.host, port: address.port) { [self] in resolved($0) }
        }
    }

    /// Remembers which address worked.
    func connected(to address: SocketAddress) {
        first = addresses.firstIndex(of: address) ?? 0
    }

    private var inTurn: [SocketAddress] {
        first == 0 ? addresses : Array(addresses[first...] + addresses[..<first])
    }

    private func resolved(_ result: Result<Resolution, ResolverError>) {
        let completions = waiting
        waiting = []
        switch result {
        case .success(let resolution):
            store(resolution.addresses, until: loop.now + resolution.timeToLive * .second)
        case .failure(let error):
            // Addresses that are too old are better than none while the name service is away.
            guard !addresses.isEmpty else { return completions.forEach { $0(.failure(error)) } }
            expires = loop.now + .second
        }
        for completion in completions { completion(.success(inTurn)) }
    }

    /// Knows these addresses until then.
    func store(_ found: [SocketAddress], until time: Instant) {
        if found != addresses { first = 0 }
        addresses = found
        expires = time
    }
}

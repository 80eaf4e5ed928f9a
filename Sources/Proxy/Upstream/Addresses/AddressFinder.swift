internal import Bytes
internal import Configuration
internal import Events
internal import Resolver
internal import Time

/// Finds the addresses of an upstream, and looks for changes as long as they are used.
///
/// What was found stays if a name server or a file brings nothing. Belongs to the worker's thread.
final class AddressFinder {
    /// An address, and what its source says of it.
    struct Found: Hashable {
        let address: SocketAddress
        var priority = 0
        var weight = 1
    }

    /// A host that has addresses.
    struct Target: Hashable {
        let host: HostPort
        var priority = 0
        var weight = 1
    }

    /// The longest file, in bytes.
    private static let maxFile = 4 << 20
    /// Names are asked for again after so many seconds at the latest.
    private static let maxTimeToLive = 30

    private let source: UpstreamAddressSettings.Source
    private let url: UpstreamURL
    private let names: NameService
    private let loop: EventLoop
    private let bound: AddressBound
    /// What was found last.
    private(set) var found: [Found] = []
    private var expires = Instant.min
    private var askedAt = Instant.min
    private var isAsking = false
    private var targets: [Target] = []
    private var known: [HostPort: (addresses: [SocketAddress], until: Instant)] = [:]
    /// What was read of a file last, and what the file was then.
    private var file: (identity: FileIdentity, targets: [Target])?
    /// Until when all that is known is good.
    private var knownUntil = Instant.min

    /// Told of what was found, each time that it is something else.
    var changed: ([Found]) -> Void = { _ in }
    /// Told that nothing was found, and why.
    var failed: (ResolverError) -> Void = { _ in }
    /// Called with the number of addresses or targets in DNS, if only some of them are used.
    var onExcess: (Int) -> Void = { _ in }

    init(_ settings: UpstreamSettings, names: NameService, loop: EventLoop) {
        (source, url) = (settings.addresses.source, settings.url)
        (self.names, self.loop) = (names, loop)
        bound = AddressBound(limit: settings.limits.addresses)
    }

    /// The addresses are used: asks for them again, if it is time.
    func use() {
        if expires <= loop.now { ask() }
    }

    /// A connection could not be made: the addresses may be others now.
    func doubt() {
        // What is written as an address is no other by now.
        guard expires < .max, loop.now - askedAt >= .second else { return }
        // The addresses of names stay, if nobody knows others.
        known = known.mapValues { ($0.addresses, $0.until == .max ? .max : .min) }
        knownUntil = .min
        ask()
    }

    private func ask() {
        guard !isAsking else { return }
        (isAsking, askedAt) = (true, loop.now)
        switch source {
        case .first, .all:
            if case .tcp(let host) = url.endpoint { resolve([Target(host: host)], until: .max) }
        case .list(let hosts): resolve(hosts.map { Target(host: $0) }, until: .max)
        case .file(let path): read(path)
        case .service(let name):
            names.resolve(service: name) { [self] result in
                switch result {
                case .failure(let error): finish(.failure(error))
                case .success(let service):
                    let targets = service.records.map {
                        Target(host: HostPort(host: $0.target, port: $0.port), priority: $0.priority, weight: $0.weight)
                    }
                    let used = limited(targets) { ($0.priority, $0.host) }
                    resolve(used, until: loop.now + min(service.timeToLive, Self.maxTimeToLive) * .second)
                }
            }
        }
    }

    // MARK: Files

    private func read(_ path: String) {
        let identity = FileIdentity(of: path)
        // It is looked at often, and changes seldom.
        if let file, file.identity == identity { return resolve(file.targets, until: loop.now + .second) }
        switch SmallFile.read(path, limit: Self.maxFile) {
        case .failure(let error): finish(.failure(.other("cannot read \(path): \(error.text)")))
        case .success(let bytes):
            switch AddressFile.hosts(bytes) {
            case .failure(let problem): finish(.failure(.other("\(path):\(problem.line): \(problem.text)")))
            case .success(let hosts):
                let targets = hosts.map { Target(host: $0) }
                file = identity.map { ($0, targets) }
                resolve(targets, until: loop.now + .second)
            }
        }
    }

    // MARK: Names

    /// Looks up what is not known of some hosts.
    private func resolve(_ targets: [Target], until time: Instant) {
        if targets == self.targets, knownUntil > loop.now { return finish(.success((found, time))) }
        self.targets = targets
        let hosts = Set(targets.map(\.host))
        known = known.filter { hosts.contains($0.key) }
        var unknown: [HostPort] = []
        for host in hosts where (known[host]?.until ?? .min) <= loop.now {
            if let literal = SocketAddress(literal: host.host, port: host.port) {
                known[host] = ([literal], .max)
            } else {
                unknown.append(host)
            }
        }
        var lack: ResolverError?
        let lookups = HostLookups(unknown) { [names] host, completion in
            names.resolve(host.host, port: host.port, completion: completion)
        } onResult: { [self] host, result in
            switch result {
            case .success(let resolution): store(resolution, of: host)
            case .failure(let error): lack = error
            }
        } onEnd: { [self] in
            combine(targets, until: time, lack)
        }
        lookups.start()
    }

    private func store(_ resolution: Resolution, of host: HostPort) {
        let time = min(resolution.timeToLive, Self.maxTimeToLive) * .second
        known[host] = (limited(resolution.addresses) { (0, $0) }, loop.now + time)
    }

    /// Returns the items of a list of DNS that are used.
    private func limited<Item>(_ items: [Item], least: Int = 0, by rank: (Item) -> (Int, AnyHashable)) -> [Item] {
        let used = bound.first(of: items, least: least, by: rank)
        if used.count < items.count { onExcess(items.count) }
        return used
    }

    private func combine(_ targets: [Target], until time: Instant, _ lack: ResolverError?) {
        var seen: Set<SocketAddress> = []
        var all: [Found] = []
        var until = lack == nil ? time : min(time, loop.now + .second)
        for target in targets {
            guard let entry = known[target.host] else { continue }
            until = min(until, max(entry.until, loop.now + .second))
            for address in entry.addresses where seen.insert(address).inserted {
                all.append(Found(address: address, priority: target.priority, weight: target.weight))
            }
        }
        guard !all.isEmpty else { return finish(.failure(lack ?? .noAddress)) }
        all = limited(all, least: targets.count) { ($0.priority, $0.address) }
        knownUntil = lack == nil ? known.values.map(\.until).min() ?? .min : .min
        finish(.success((all, until)))
        // What was known of a host stays.
        if let lack { failed(lack) }
    }

    private func finish(_ result: Result<(found: [Found], until: Instant), ResolverError>) {
        isAsking = false
        switch result {
        case .success(let new):
            expires = new.until
            guard new.found != found, Set(new.found) != Set(found) else { return }
            found = new.found
            changed(found)
        case .failure(let error):
            expires = loop.now + .second
            failed(error)
        }
    }
}

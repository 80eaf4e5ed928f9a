internal import Bytes

/// Resolves host names without ever waiting: /etc/hosts, then DNS, for both families, with times to live.
///
/// The owner watches the sockets that the resolver names and calls `process` when they are ready, and `processTimeouts`
/// after `nextTimeout`. Belongs to one thread. There is a c-ares channel only while names are being looked up, so that an
/// idle resolver costs nothing and every spell of lookups reads /etc/resolv.conf afresh.
public final class Resolver {
    /// Told of a socket to watch for reading and writing; neither means to forget it, for it is about to be closed.
    ///
    /// It comes from the middle of c-ares: note it, and do not call the resolver from there.
    public typealias SocketChanged = (_ socket: Int32, _ watchesRead: Bool, _ watchesWrite: Bool) -> Void
    /// Told what became of a name, once, unless the resolver goes first.
    public typealias Completion = (Result<Resolution, ResolverError>) -> Void

    /// How to ask.
    public struct Options: Sendable {
        /// The DNS servers as `address:port`, separated by commas; none for those of /etc/resolv.conf.
        public var servers: String?
        /// How long to wait for the first response, in milliseconds; c-ares doubles it with each further try.
        public var timeout: Int
        /// How often to ask each server.
        public var tries: Int

        /// Asks the servers of this host, twice each, and gives up on a silent one after six seconds.
        public init(servers: String? = nil, timeout: Int = 2000, tries: Int = 2) {
            self.servers = servers
            self.timeout = timeout
            self.tries = tries
        }
    }

    private let options: Options
    private let socketChanged: SocketChanged
    private var channel: Channel?
    private var lookups: [any PendingLookup] = []

    /// Makes a resolver that has done nothing yet.
    public init(_ options: Options = Options(), socketChanged: @escaping SocketChanged) {
        self.options = options
        self.socketChanged = socketChanged
    }

    /// How long until `processTimeouts` has work, in milliseconds; none while there is no lookup.
    public var nextTimeout: Int? { channel?.nextTimeout }

    /// Looks up the addresses of `name`.
    ///
    /// `completion` is called before this returns if the response needs no DNS server.
    public func resolve(_ name: String, port: UInt16, completion: @escaping Completion) {
        if let literal = SocketAddress(literal: name, port: port) {
            completion(.success(Resolution(addresses: [literal], timeToLive: .max)))
        } else if name.isEmpty || name.utf8.contains(0) {
            completion(.failure(.badName))
        } else {
            start(name, Lookup(port: port, completion: completion))
        }
    }

    /// Looks up the SRV records of `name`.
    ///
    /// `completion` is called before this returns if nobody can be asked.
    public func resolve(
        service name: String,
        completion: @escaping (Result<ServiceRecords, ResolverError>) -> Void
    ) {
        guard !name.isEmpty, !name.utf8.contains(0) else { return completion(.failure(.badName)) }
        start(name, ServiceLookup(completion: completion))
    }

    /// Goes on with the lookups whose sockets are ready.
    public func process(readable: Int32? = nil, writable: Int32? = nil) {
        channel?.process(readable: readable, writable: writable)
        deliver()
    }

    /// Asks again, or gives up, where a response is overdue.
    public func processTimeouts() {
        process()
    }

    private func start(_ name: String, _ lookup: any PendingLookup) {
        do throws(ResolverError) {
            let channel = try openChannel()
            lookups.append(lookup)
            channel.start(lookup, name)
            deliver()
        } catch {
            lookup.fail(error)
        }
    }

    private func openChannel() throws(ResolverError) -> Channel {
        if let channel { return channel }
        let opened = try Channel(options, socketChanged)
        channel = opened
        return opened
    }

    /// Tells the outcomes, now that c-ares has been left: a completion may look up as it likes.
    private func deliver() {
        while let index = lookups.firstIndex(where: { $0.isDone }) { lookups.remove(at: index).deliver() }
        if lookups.isEmpty { channel = nil }
    }
}

internal import Bytes
public import Configuration
internal import Glibc
internal import Synchronization

/// A listening stream socket, non-blocking and close-on-exec.
///
/// Opening blocks for an instant, so it is for start and reload. The descriptor may be used on any one thread.
public final class ListenSocket: Sendable {
    /// The descriptor to accept on; good until `close`.
    public let descriptor: Int32
    /// Where it listens, with the real port if port 0 was asked for: `127.0.0.1:41234`, `unix:/path`, `unix:@name`.
    public let localAddress: String
    /// Whether it shares the queue of another socket of this process.
    public let isCopy: Bool
    private let sharesPort: Bool
    private let file: UnixSocketFile?
    private let isClosed = Atomic(false)
    private let heldElsewhere = Atomic(false)

    /// As many connections as Linux by default lets wait for `accept`; `net.core.somaxconn` caps it.
    private static let backlog: Int32 = 4096

    /// Opens a socket that listens on `address`.
    ///
    /// With `reusePort`, `another` gives each worker a TCP socket of its own, among which the kernel spreads connections.
    /// `permissions` are those of the file of a Unix socket. The directory of that file should be writable by trusted
    /// users only. A file left by a process that has died is replaced.
    public static func open(
        _ address: ListenAddress,
        reusePort: Bool = false,
        permissions: SocketPermissions = SocketPermissions()
    ) throws(ListenError) -> ListenSocket {
        let system = try address.resolved()
        switch address {
        case .tcp(_, let port):
            // With SO_REUSEPORT a second process would silently share the port, so a bind without it must go well first.
            if reusePort, port != 0 { try ListenSocket(boundTo: system, sharesPort: false).close() }
            let socket = try ListenSocket(boundTo: system, sharesPort: reusePort)
            try socket.listen()
            return socket
        case .abstract, .systemd:
            let socket = try ListenSocket(boundTo: system, sharesPort: false)
            try socket.listen()
            return socket
        case .unix(let path):
            try UnixSocketFile.removeStale(at: path, system)
            let socket = try ListenSocket(boundTo: system, sharesPort: false, path: path)
            // Not by umask, which all threads share: nobody can connect before `listen`, so this is in time.
            try permissions.apply(to: path)
            try socket.listen()
            return socket
        }
    }

    /// Opens a socket as `open` does; for port 0 it has the port of `sibling`, if that is free.
    public static func open(
        _ address: ListenAddress,
        beside sibling: ListenSocket?,
        reusePort: Bool = false,
        permissions: SocketPermissions = SocketPermissions()
    ) throws(ListenError) -> ListenSocket {
        if case .tcp(let host, 0) = address,
            let port = sibling.flatMap({ SocketAddress(localOf: $0.descriptor)?.port }),
            let socket = try? open(.tcp(host: host, port: port), reusePort: reusePort, permissions: permissions)
        {
            return socket
        }
        return try open(address, reusePort: reusePort, permissions: permissions)
    }

    /// Opens a socket for each address that `address` stands for on this machine: two for `localhost`.
    public static func openAll(
        _ address: ListenAddress,
        permissions: SocketPermissions
    ) throws(ListenError) -> [ListenSocket] {
        var sockets: [ListenSocket] = []
        for part in address.available {
            sockets.append(try open(part, beside: sockets.first, permissions: permissions))
        }
        return sockets
    }

    /// What this machine lacks for a socket that listens on `address`; nil if it is not known to lack anything.
    ///
    /// Nothing is opened, so there may be other reasons why it cannot be.
    public static func check(_ address: ListenAddress, permissions: SocketPermissions) -> ListenError? {
        guard case .unix(let path) = address else { return nil }
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
        guard unsafe access(folder, F_OK) == 0 else { return ListenError(address, errno: errno) }
        do throws(ListenError) {
            _ = try permissions.numbers(for: address)
            return nil
        } catch {
            return error
        }
    }

    /// Takes over a descriptor that listens already, as a service manager hands it in.
    public convenience init(adopting descriptor: Int32) {
        self.init(adopting: descriptor, isCopy: false)
    }

    /// Takes over a descriptor that listens already; `file` is that of a Unix socket, if it goes when the socket closes.
    init(adopting descriptor: Int32, isCopy: Bool = false, sharesPort: Bool = false, file: UnixSocketFile? = nil) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        self.descriptor = descriptor
        localAddress = SocketAddress(localOf: descriptor)?.description ?? "descriptor \(descriptor)"
        self.isCopy = isCopy
        self.sharesPort = sharesPort
        self.file = file
    }

    /// A socket for one more worker: with a queue of its own if opened with `reusePort`, else sharing this one's.
    ///
    /// Only the first socket of a Unix path removes the file.
    public func another() throws(ListenError) -> ListenSocket {
        if sharesPort, let system = SocketAddress(localOf: descriptor) {
            do throws(ListenError) {
                let socket = try ListenSocket(boundTo: system, sharesPort: true)
                try socket.listen()
                return socket
            } catch {
                // Only one user can share a port, and the process that has opened this one may have had another.
                guard isHeld else { throw error }
            }
        }
        return try copied()
    }

    /// A socket for one more worker that shares the queue of this one.
    public func copied() throws(ListenError) -> ListenSocket {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw ListenError(localAddress, errno: errno) }
        return ListenSocket(adopting: copy, isCopy: true)
    }

    /// The port of a TCP socket.
    public var port: UInt16? { SocketAddress(localOf: descriptor)?.port }

    /// Gives the file of a Unix socket another mode, owner or group; does nothing to other sockets.
    public func setPermissions(_ permissions: SocketPermissions) throws(ListenError) {
        guard let file else { return }
        try permissions.apply(to: file.path)
    }

    /// Whether the service manager holds the socket too, or another process of this program has it, so that it listens on when
    /// this process has closed it.
    public var isHeld: Bool { heldElsewhere.load(ordering: .relaxed) }

    /// Notes that the service manager holds the socket too, or another process of this program.
    public func hold() { heldElsewhere.store(true, ordering: .relaxed) }

    /// Notes that only this process has the socket now, as far as is known.
    public func own() { heldElsewhere.store(false, ordering: .relaxed) }

    /// A name that no other socket has, under which the service manager can hold it; a later process knows it by that.
    public var storeName: String {
        var status = stat()
        _ = unsafe fstat(descriptor, &status)
        return Self.storePrefix + (["\(status.st_ino)"] + (file.map { [$0.identity] } ?? [])).joined(separator: "-")
    }

    /// Stops listening and removes the file of a Unix socket, if it is still this socket's; may be called twice.
    ///
    /// The file stays if the service manager holds the socket.
    public func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        if !isHeld { file?.remove() }
        Glibc.close(descriptor)
    }

    /// Lets nobody connect any more; the socket stays open.
    public func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Closes the socket, and nobody listens on it any more, not even if the service manager holds it.
    public func discard() {
        if heldElsewhere.exchange(false, ordering: .relaxed) { shutDown() }
        close()
    }

    deinit {
        close()
    }

    private init(boundTo system: SocketAddress, sharesPort: Bool, path: String? = nil) throws(ListenError) {
        descriptor = try Self.bind(system, sharesPort: sharesPort)
        localAddress = SocketAddress(localOf: descriptor)?.description ?? system.description
        isCopy = false
        self.sharesPort = sharesPort
        file = path.flatMap { UnixSocketFile(boundAt: $0) }
    }

    private func listen() throws(ListenError) {
        guard Glibc.listen(descriptor, Self.backlog) == 0 else { throw ListenError(localAddress, errno: errno) }
    }

    private static func bind(_ system: SocketAddress, sharesPort: Bool) throws(ListenError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(Int32(system.family.rawValue), kind, 0)
        guard descriptor >= 0 else { throw ListenError(system, errno: errno) }
        if system.family != .unix {
            // An old connection of a process that has ended must not hold up the next start.
            set(SO_REUSEADDR, SOL_SOCKET, on: descriptor)
            // Accepted sockets inherit it.
            set(TCP_NODELAY, Int32(IPPROTO_TCP), on: descriptor)
        }
        if system.family == .ipv6 { set(IPV6_V6ONLY, Int32(IPPROTO_IPV6), on: descriptor) }
        if sharesPort { set(SO_REUSEPORT, SOL_SOCKET, on: descriptor) }
        let error = unsafe system.withSystemForm { unsafe Glibc.bind(descriptor, $0, $1) == 0 ? 0 : errno }
        guard error == 0 else {
            Glibc.close(descriptor)
            throw ListenError(system, errno: error)
        }
        return descriptor
    }

    private static func set(_ option: Int32, _ level: Int32, on descriptor: Int32) {
        var one: Int32 = 1
        _ = unsafe setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
    }
}

public import Bytes
private import CLinux
private import Glibc

/// A connected stream socket, TCP or Unix.
///
/// System calls are each in a function that is not inlined and reads errno at once: ARC traffic could change it.
@safe
public final class Socket: Transport {
    /// -1 once it is closed, so that a late call cannot reach whoever got the number next.
    private var descriptor: Int32
    private var watch: Watch?
    /// Whether `close` resets the connection instead of ending it in order.
    public var resetsOnClose = false

    /// Takes over a connected or connecting, non-blocking descriptor.
    public init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close()
    }

    /// Begins to connect to `address`.
    ///
    /// The watcher is told `writable` when the connect has finished, well or not; `connectError` says which.
    /// - Returns: the socket, or an errno where not even a beginning could be made.
    public static func connect(to address: SocketAddress) -> Result<Socket, SystemError> {
        let descriptor = openStream(family: Int32(address.family.rawValue))
        guard descriptor >= 0 else { return .failure(SystemError(-descriptor)) }
        let socket = Socket(owning: descriptor)
        socket.setNoDelay()
        let error = beginConnect(descriptor, address)
        guard error == 0 || error == EINPROGRESS else { return .failure(SystemError(error)) }
        return .success(socket)
    }

    /// The number of the descriptor, -1 once it is closed.
    ///
    /// The system gives out the lowest that is free, so at the time of a new socket as many descriptors are in use, or more.
    public var number: Int { Int(descriptor) }

    /// Takes the lowest number that is free, where that is lower than its own, so that `number` counts those in use again.
    ///
    /// Only for a socket that has not been started: its loop knows it by the number.
    func renumber() {
        guard watch == nil else { return }
        let lowest = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard lowest >= 0 else { return }
        Glibc.close(max(lowest, descriptor))
        descriptor = min(lowest, descriptor)
    }

    /// Sends small writes at once; does nothing on a Unix socket.
    public func setNoDelay() {
        var one: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Who is at the other end of a Unix socket, as the kernel saw it at connect; nil for others.
    public var peerCredentials: PeerCredentials? { PeerCredentials(ofPeerOn: descriptor) }

    /// Whether the process that connected to a Unix socket is known to have ended, so that its number may be another's.
    public var hasPeerEnded: Bool { martlet_peer_has_ended(descriptor) }

    public func start(on loop: EventLoop, watcher: any Watcher) {
        watch = Watch(descriptor, on: loop, for: watcher)
        watch?.watchesRead = true
    }

    public var watchesRead: Bool {
        get { watch?.watchesRead ?? false }
        set { watch?.watchesRead = newValue }
    }

    public var watchesWrite: Bool {
        get { watch?.watchesWrite ?? false }
        set { watch?.watchesWrite = newValue }
    }

    public var isHungUp: Bool { martlet_hung_up(descriptor) }

    public var unacknowledged: Int { Int(martlet_unacknowledged(descriptor)) }

    public var connectError: Int32 {
        var error: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
        return error
    }

    public func receive(into queue: ByteQueue, room: Int) -> Transfer {
        var result = 0
        let count = unsafe queue.append(room: room) { buffer in
            result = unsafe Self.receive(descriptor, buffer)
            return max(0, result)
        }
        if count > 0 { return .bytes(count) }
        return result == 0 ? .end : Self.transfer(error: Int32(-result))
    }

    public func send(_ bytes: Span<UInt8>) -> Transfer {
        let result = unsafe bytes.withUnsafeBytes { unsafe Self.send(descriptor, $0) }
        return result >= 0 ? .bytes(result) : Self.transfer(error: Int32(-result))
    }

    public func send(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Transfer {
        let result = unsafe first.withUnsafeBytes { first in
            unsafe second.withUnsafeBytes { unsafe Self.send(descriptor, first, $0) }
        }
        return result >= 0 ? .bytes(result) : Self.transfer(error: Int32(-result))
    }

    public func endSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    public func close() {
        guard descriptor >= 0 else { return }
        watch?.end()
        watch = nil
        if resetsOnClose {
            var none = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(descriptor)
        descriptor = -1
    }

    private static func transfer(error: Int32) -> Transfer {
        error == EAGAIN || error == EINTR ? .notNow : .failed(error)
    }

    @inline(never)
    private static func receive(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        return count < 0 ? -Int(errno) : count
    }

    @inline(never)
    private static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        return count < 0 ? -Int(errno) : count
    }

    @inline(never)
    private static func send(
        _ descriptor: Int32,
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer
    ) -> Int {
        var pieces = (
            unsafe iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
            unsafe iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
        )
        return unsafe withUnsafeMutablePointer(to: &pieces) { pieces in
            var message = unsafe msghdr()
            unsafe message.msg_iov = UnsafeMutableRawPointer(pieces).assumingMemoryBound(to: iovec.self)
            unsafe message.msg_iovlen = 2
            let count = unsafe sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
            return count < 0 ? -Int(errno) : count
        }
    }

    @inline(never)
    private static func openStream(family: Int32) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        return descriptor < 0 ? -errno : descriptor
    }

    @inline(never)
    private static func beginConnect(_ descriptor: Int32, _ address: SocketAddress) -> Int32 {
        let result = unsafe address.bytes.withUnsafeBytes { bytes in
            unsafe Glibc.connect(
                descriptor,
                bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count)
            )
        }
        return result < 0 ? errno : 0
    }
}

/// Who is at the other end of a Unix socket.
public struct PeerCredentials: Equatable, Sendable {
    /// The effective user.
    public var uid: UInt32
    /// The effective group.
    public var gid: UInt32
    /// The process that connected, which may have ended since; 0 if it has no number here, as from outside a container.
    public var pid: Int32

    /// Names a user, a group and a process.
    public init(uid: UInt32, gid: UInt32, pid: Int32 = 0) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }

    /// Asks the kernel who is at the other end of a Unix socket: the process that connected, or that listens.
    ///
    /// - Returns: `nil` for another socket.
    public init?(ofPeerOn descriptor: Int32) {
        self.init(uid: 0, gid: 0)
        // On a TCP socket the kernel says that nobody is there.
        guard unsafe martlet_peer_credentials(descriptor, &uid, &gid, &pid) == 0, uid != .max else { return nil }
    }
}

/// An errno as an error.
public struct SystemError: Error, Equatable {
    /// The errno, or -1 for ``notAFile``.
    public let code: Int32

    /// Wraps an errno.
    public init(_ code: Int32) {
        self.code = code
    }

    /// What ought to be a file is a pipe or a device; no errno says so.
    public static let notAFile = SystemError(-1)

    /// Whether the process, or the system, has no file descriptor left.
    public var isLackOfDescriptors: Bool { code == EMFILE || code == ENFILE }

    /// Whether this machine, or the process, lacks something for a connection, whoever is at its other end.
    public var isLocal: Bool {
        isLackOfDescriptors || code == ENOMEM || code == ENOBUFS || code == EADDRNOTAVAIL
    }

    /// The system's words for it.
    public var text: String {
        self == .notAFile ? "Not a regular file" : unsafe String(cString: martlet_error_text(code))
    }
}

private import Glibc

/// What an old and a new process of the program say to each other during an upgrade, a message at a time.
///
/// Belongs to the thread of its loop, once it has one.
public final class StatusChannel: Watcher {
    private let descriptor: Int32
    private var watch: Watch?
    private var receive: ((String?) -> Void)?

    /// The variable that names the descriptor in the environment of the new process.
    public static let variable = "MARTLET_UPGRADE"
    private static let maxMessage = 16 * 1024

    /// Takes over a descriptor, close-on-exec from now on.
    public init(adopting descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Makes both ends; nil if there are no descriptors left.
    public static func pair() -> (StatusChannel, StatusChannel)? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        return (StatusChannel(adopting: ends[0]), StatusChannel(adopting: ends[1]))
    }

    /// Has another process get this end.
    public func launch(by launcher: Launcher, with sockets: [Launcher.Named]) -> Result<Int32, SystemError> {
        launcher.launch(sockets, status: descriptor)
    }

    /// Sends a message, of which at most 16 KiB count; without the other end it is lost.
    public func send(_ text: String) {
        let bytes = Array(text.utf8.prefix(Self.maxMessage))
        _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }

    /// Has `receive` get each message, and nil when the other end is closed.
    public func listen(on loop: EventLoop, _ receive: @escaping (String?) -> Void) {
        self.receive = receive
        let watch = Watch(descriptor, on: loop, for: self)
        self.watch = watch
        watch.watchesRead = true
    }

    /// Receives nothing any more; messages can still be sent.
    public func stopListening() {
        receive = nil
        watch?.end()
        watch = nil
    }

    deinit {
        watch?.end()
        close(descriptor)
    }

    public func readable() {
        var bytes = [UInt8](repeating: 0, count: Self.maxMessage)
        let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        receive?(count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil)
    }

    public func writable() {}
}

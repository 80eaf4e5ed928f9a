private import CLinux
private import Glibc

/// A small process that can start this program anew, without what this one has given up since it began.
///
/// It ends with this process. Belongs to the main thread.
public final class Launcher: Watcher {
    /// A socket for the new process, and the name by which it knows it.
    public typealias Named = (name: String, descriptor: Int32)

    /// The most sockets that can be handed over.
    public static let maxSockets = Int(MARTLET_MOST_HANDED_OVER)

    private let socket: Int32
    private var watch: Watch?
    private var onEnd: (() -> Void)?

    /// Makes the process; this one must have no other thread yet.
    public init() throws(SystemError) {
        socket = martlet_launcher_start()
        guard socket >= 0 else { throw SystemError(-socket) }
    }

    /// Whether this process is in a PID namespace that is not the first one of the machine.
    public static var isInContainer: Bool {
        var status = stat()
        guard unsafe stat("/proc/self/ns/pid", &status) == 0 else { return false }
        return status.st_ino != firstNamespace
    }

    /// The inode that Linux gives the first PID namespace.
    private static let firstNamespace: ino_t = 0xEFFF_FFFC

    deinit {
        watch?.end()
        martlet_launcher_stop(socket)
    }

    /// The path by which this program was executed, and by which it is started again; `nil` if that is not known.
    public static var programPath: String? {
        unsafe martlet_program_path().map { unsafe String(cString: $0) }
    }

    /// Calls `onEnd` once when the process ends before this one, for example because it was killed.
    public func watch(on loop: EventLoop, onEnd: @escaping () -> Void) {
        self.onEnd = onEnd
        let watch = Watch(socket, on: loop, for: self)
        self.watch = watch
        watch.watchesRead = true
    }

    public func readable() {
        guard !isRunning else { return }
        watch?.end()
        watch = nil
        onEnd.take()?()
    }

    public func writable() {}

    /// Whether the process can launch a program.
    public var isRunning: Bool {
        var byte: UInt8 = 0
        // A reply that came too late for `launch` is discarded here.
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_DONTWAIT))
        return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
    }

    /// Kills the process that was launched last, and what it has started; it has not taken over.
    public func killLast() {
        martlet_launcher_kill(socket)
    }

    /// Starts the program anew, by the path and with the arguments and the environment that this one was started with.
    ///
    /// - Parameters:
    ///   - sockets: listening sockets, which it gets as from a service manager (sd_listen_fds(3)).
    ///   - status: a socket over which it says how it fares.
    /// - Returns: the number of its process, which may fail still.
    public func launch(_ sockets: [Named], status: Int32) -> Result<Int32, SystemError> {
        let descriptors = sockets.map(\.descriptor) + [status]
        let names = sockets.map(\.name).joined(separator: ":")
        let process = unsafe martlet_launch(socket, names, descriptors, descriptors.count)
        return process > 0 ? .success(process) : .failure(SystemError(-process))
    }
}

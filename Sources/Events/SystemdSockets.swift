internal import Glibc

/// The listening sockets that systemd hands to a socket-activated service (sd_listen_fds(3)).
public struct SystemdSockets: Equatable, Sendable {
    /// Descriptors by the name that `FileDescriptorName=` gave them, in the order of the unit.
    public private(set) var byName: [String: [Int32]] = [:]
    /// What an earlier process of this service has put into systemd's store, in no order; see `ListenSocket.restored`.
    public private(set) var stored: [Stored] = []

    /// A descriptor from systemd's store.
    public struct Stored: Equatable, Sendable {
        /// The name that it was stored under.
        public let name: String
        /// The descriptor, which may be of anything.
        public let descriptor: Int32
    }

    private static let firstDescriptor: Int32 = 3
    /// What systemd calls a descriptor without a name.
    private static let unnamed = "unknown"

    /// Reads what the environment says; empty unless it is addressed to `process`.
    ///
    /// Pure: the descriptors are not looked at.
    public init(listenPID: String?, listenFDs: String?, listenFDNames: String?, process: Int32) {
        guard let listenPID, Int32(listenPID) == process, let count = listenFDs.flatMap({ Int32($0) }),
            (1...1024).contains(count)
        else { return }
        let names = (listenFDNames ?? "").split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        for index in 0..<Int(count) {
            let name = index < names.count && !names[index].isEmpty ? names[index] : Self.unnamed
            let descriptor = Self.firstDescriptor + Int32(index)
            if name.hasPrefix(ListenSocket.storePrefix) {
                stored.append(Stored(name: name, descriptor: descriptor))
            } else {
                byName[name, default: []].append(descriptor)
            }
        }
    }

    /// Takes the sockets over from the environment and removes the variables, so that no child takes them again.
    ///
    /// Call once, at start, before there are other threads: the environment is not locked. A descriptor that is not a
    /// listening stream socket is an error.
    public static func receive() throws(ListenError) -> SystemdSockets {
        var sockets = SystemdSockets(
            listenPID: variable("LISTEN_PID"),
            listenFDs: variable("LISTEN_FDS"),
            listenFDNames: variable("LISTEN_FDNAMES"),
            process: getpid()
        )
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsafe unsetenv(name) }
        sockets.stored.removeAll { fcntl($0.descriptor, F_SETFD, FD_CLOEXEC) != 0 }
        for (name, descriptors) in sockets.byName {
            for descriptor in descriptors {
                guard isListening(descriptor) else {
                    throw ListenError("systemd:\(name)", "descriptor \(descriptor) is not a listening stream socket")
                }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            }
        }
        return sockets
    }

    /// Whether the descriptor is a stream socket that listens.
    static func isListening(_ descriptor: Int32) -> Bool {
        option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue) && option(SO_ACCEPTCONN, of: descriptor) == 1
    }

    private static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}

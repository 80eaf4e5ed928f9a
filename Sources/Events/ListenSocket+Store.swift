internal import Bytes
private import Glibc

extension ListenSocket {
    /// What the names of stored sockets begin with; `FileDescriptorName=` of a socket unit must not.
    static let storePrefix = "martlet-listener-"

    /// Takes over a socket that an earlier process has left in the service manager's store.
    ///
    /// A descriptor that is no listening socket, or a Unix socket whose file is gone or another one's, is closed. With
    /// `isLent` another process still accepts on the socket.
    public static func restored(_ stored: SystemdSockets.Stored, isLent: Bool = false) -> ListenSocket? {
        let descriptor = stored.descriptor
        guard SystemdSockets.isListening(descriptor), let address = SocketAddress(localOf: descriptor) else {
            Glibc.close(descriptor)
            return nil
        }
        var file: UnixSocketFile?
        let text = address.description
        if text.hasPrefix("unix:/") {
            file = UnixSocketFile(boundAt: String(text.dropFirst("unix:".count)))
            guard let file, stored.name.hasSuffix("-\(file.identity)") else {
                if !isLent { shutdown(descriptor, Int32(SHUT_RDWR)) }
                Glibc.close(descriptor)
                return nil
            }
        }
        let socket = ListenSocket(adopting: descriptor, sharesPort: hasSharedPort(descriptor), file: file)
        socket.hold()
        return socket
    }

    private static func hasSharedPort(_ descriptor: Int32) -> Bool {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &value, &length) == 0 && value != 0
    }
}

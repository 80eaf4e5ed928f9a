import Bytes
import Configuration
import Events
import Glibc

/// A listening socket on the loopback, whose connections the test takes.
final class LoopbackListener {
    let socket: ListenSocket

    init(_ address: ListenAddress = .tcp(host: "127.0.0.1", port: 0)) {
        do {
            socket = try ListenSocket.open(address)
        } catch {
            fatalError("\(error)")
        }
    }

    deinit {
        socket.close()
    }

    /// Where it listens.
    var address: SocketAddress {
        let text = socket.localAddress
        if text.hasPrefix("unix:@") { return SocketAddress.abstract(name: String(text.dropFirst(6)))! }
        return .ipv4([127, 0, 0, 1], port: UInt16(text.split(separator: ":").last!)!)
    }

    /// A connection that has come, if one has.
    func accept() -> SocketEnd? {
        let descriptor = Glibc.accept(socket.descriptor, nil, nil)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return SocketEnd(descriptor)
    }
}

/// The script's end of a real connection.
final class SocketEnd {
    let socket: Socket
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        socket = Socket(owning: descriptor)
        socket.setNoDelay()
    }

    /// Connects to `address`.
    convenience init(to address: SocketAddress) {
        let descriptor = Glibc.socket(Int32(address.family.rawValue), Int32(SOCK_STREAM.rawValue), 0)
        let result = unsafe address.bytes.withUnsafeBytes { bytes in
            unsafe Glibc.connect(
                descriptor,
                bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count)
            )
        }
        precondition(result == 0, "cannot connect to \(address)")
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        self.init(descriptor)
    }

    /// Breaks the connection.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        socket.close()
    }
}

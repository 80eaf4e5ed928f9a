internal import Bytes
public import Configuration
private import Glibc

extension ListenAddress {
    /// The addresses that a socket of its own is opened for on this machine: two for `localhost`, if it has IPv6.
    public var available: [ListenAddress] {
        let parts = expanded
        return parts.count > 1 && !Self.hasIPv6Loopback ? [parts[0]] : parts
    }

    /// What `ListenSocket.localAddress` says of a socket on this address; nil if there can be none.
    public var localName: String? {
        do throws(ListenError) { return try resolved().description } catch { return nil }
    }

    /// Whether this machine has ::1; also true if that cannot be found out.
    private static var hasIPv6Loopback: Bool {
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno != EAFNOSUPPORT }
        defer { close(descriptor) }
        let address = SocketAddress.ipv6([UInt8](repeating: 0, count: 15) + [1], port: 0)
        return unsafe address.withSystemForm { unsafe bind(descriptor, $0, $1) == 0 || errno != EADDRNOTAVAIL }
    }

    /// The address as the system takes it; `localhost` is 127.0.0.1, and other names are not looked up.
    func resolved() throws(ListenError) -> SocketAddress {
        switch self {
        case .tcp(let host, let port):
            let literal = host == "localhost" ? "127.0.0.1" : host
            if let address = SocketAddress(literal: literal, port: port) { return address }
            throw ListenError(self, "\"\(host)\" is not an IP address")
        case .unix(let path):
            if let address = SocketAddress.unix(path: path) { return address }
            throw ListenError(self, unixError(path, "path"))
        case .abstract(let name):
            if let address = SocketAddress.abstract(name: name) { return address }
            throw ListenError(self, unixError(name, "name"))
        case .systemd:
            throw ListenError(self, "systemd did not pass a socket with this name")
        }
    }

    private func unixError(_ text: String, _ noun: String) -> String {
        if text.isEmpty { return "the \(noun) is empty" }
        let length = text.utf8.count
        guard length > SocketAddress.maxUnixName else { return "the \(noun) contains a zero byte" }
        return "the \(noun) has \(length) bytes, but Linux allows at most \(SocketAddress.maxUnixName)"
    }
}

internal import Bytes

/// Where to listen.
public enum ListenAddress: Hashable, Sendable {
    /// A TCP port; `host` is a literal IPv4 or IPv6 address or `localhost`, which means 127.0.0.1. Port 0 asks for any.
    case tcp(host: String, port: UInt16)
    /// A Unix socket in the file system.
    case unix(path: String)
    /// A Unix socket in the abstract namespace, which has no file and no permissions.
    case abstract(name: String)

    func resolved() throws(ListenError) -> SocketAddress {
        switch self {
        case .tcp(let host, let port):
            let literal = host == "localhost" ? "127.0.0.1" : host
            if let address = SocketAddress(literal: literal, port: port) { return address }
            throw ListenError(self, "\"\(host)\" is not an IP address")
        case .unix(let path):
            if let address = SocketAddress.unix(path: path) { return address }
            throw ListenError(self, unixFault(path, "path"))
        case .abstract(let name):
            if let address = SocketAddress.abstract(name: name) { return address }
            throw ListenError(self, unixFault(name, "name"))
        }
    }

    private func unixFault(_ text: String, _ noun: String) -> String {
        if text.isEmpty { return "the \(noun) is empty" }
        let length = text.utf8.count
        guard length > SocketAddress.longestUnixName else { return "the \(noun) has a zero byte" }
        return "the \(noun) has \(length) bytes, Linux takes at most \(SocketAddress.longestUnixName)"
    }
}

extension ListenAddress: CustomStringConvertible {
    /// The address as a configuration file spells it.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .abstract(let name): "unix:@\(name)"
        }
    }
}

internal import Bytes
internal import Configuration

extension ListenAddress {
    /// The address as the system takes it; `localhost` is 127.0.0.1, and other names are not looked up.
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
        case .systemd:
            throw ListenError(self, "systemd did not pass a socket of this name")
        }
    }

    private func unixFault(_ text: String, _ noun: String) -> String {
        if text.isEmpty { return "the \(noun) is empty" }
        let length = text.utf8.count
        guard length > SocketAddress.longestUnixName else { return "the \(noun) has a zero byte" }
        return "the \(noun) has \(length) bytes, Linux takes at most \(SocketAddress.longestUnixName)"
    }
}

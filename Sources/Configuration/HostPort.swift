/// A host with a port, as in `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`.
public struct HostPort: Hashable, Sendable, CustomStringConvertible {
    /// An IP address without brackets, or a host name in small letters.
    public let host: String
    /// The port.
    public let port: UInt16

    /// Joins a host, which has no brackets, to a port.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `text`; without a port it takes `defaultPort`, and without that it is none.
    public init?(_ text: String, defaultPort: UInt16? = nil) {
        guard let end = Self.endOfHost(text) else { return nil }
        var host = text[..<end].lowercased()
        if host.hasPrefix("[") {
            host = String(host.dropFirst().dropLast())
            guard case .v6 = IPAddress(host) else { return nil }
        } else {
            guard Self.isHostName(host) else { return nil }
        }
        let rest = text[end...]
        guard let port = rest.isEmpty ? defaultPort : Self.port(rest) else { return nil }
        self.init(host: host, port: port)
    }

    /// Whether the host is this machine, by its literal address or as `localhost`; a name is not looked up.
    public var isLoopback: Bool {
        host == "localhost" || IPAddress(host)?.isLoopback == true
    }

    /// The host and the port as a URL or a `Host` header has them, with an IPv6 address in brackets.
    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private static func endOfHost(_ text: String) -> String.Index? {
        guard text.hasPrefix("[") else { return text.firstIndex(of: ":") ?? text.endIndex }
        return text.firstIndex(of: "]").map { text.index(after: $0) }
    }

    private static func port(_ text: Substring) -> UInt16? {
        let digits = text.dropFirst()
        guard text.hasPrefix(":"), digits.allSatisfy(\.isASCIIDigit) else { return nil }
        return UInt16(digits)
    }

    /// Whether `text` is an IPv4 address or a host name; what looks like an address must be a good one.
    private static func isHostName(_ text: String) -> Bool {
        guard 1...253 ~= text.utf8.count else { return false }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        if labels.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) }) { return IPAddress(text) != nil }
        return labels.allSatisfy { label in
            1...63 ~= label.utf8.count && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.utf8.allSatisfy { 0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x2d || $0 == 0x5f }
        }
    }
}

/// Where a listener accepts connections.
public enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IP address or `localhost`, and a port; port 0 lets the kernel choose.
    case tcp(host: String, port: UInt16)
    /// A Unix socket in the file system.
    case unix(path: String)
    /// A Unix socket in the abstract namespace; the name has no leading `@`.
    case abstract(name: String)
    /// A socket that the service manager hands over, by its file descriptor name.
    case systemd(name: String)

    /// Reads `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `unix:/path`, `unix:@name` or `systemd:NAME`.
    public init?(_ text: String) {
        if text.hasPrefix("unix:@") {
            self.init(abstract: String(text.dropFirst(6)))
        } else if text.hasPrefix("unix:") {
            self.init(path: String(text.dropFirst(5)))
        } else if text.hasPrefix("systemd:") {
            self.init(systemd: String(text.dropFirst(8)))
        } else {
            guard let address = HostPort(text), address.host == "localhost" || IPAddress(address.host) != nil
            else { return nil }
            self = .tcp(host: address.host, port: address.port)
        }
    }

    private init?(path: String) {
        guard path.isSocketPath else { return nil }
        self = .unix(path: path)
    }

    private init?(abstract name: String) {
        guard 1...106 ~= name.utf8.count else { return nil }
        self = .abstract(name: name)
    }

    private init?(systemd name: String) {
        let isGood = name.utf8.allSatisfy { 0x21...0x7e ~= $0 && $0 != UInt8(ascii: ":") }
        guard 1...255 ~= name.utf8.count, isGood else { return nil }
        self = .systemd(name: name)
    }

    /// The addresses that a socket of its own is opened for: `localhost` is 127.0.0.1 and ::1, others are themselves.
    public var expanded: [ListenAddress] {
        guard case .tcp("localhost", let port) = self else { return [self] }
        return [.tcp(host: "127.0.0.1", port: port), .tcp(host: "::1", port: port)]
    }

    /// Whether only this machine can reach the address; so it is said of a socket that the service manager hands over.
    public var isLocal: Bool {
        if case .tcp(let host, let port) = self { return HostPort(host: host, port: port).isLoopback }
        return true
    }

    /// Whether the address is a Unix socket in the file system, which has a mode and an owner.
    public var isFile: Bool {
        if case .unix = self { true } else { false }
    }

    /// The address as the file writes it.
    public var description: String {
        switch self {
        case .tcp(let host, let port): HostPort(host: host, port: port).description
        case .unix(let path): "unix:\(path)"
        case .abstract(let name): "unix:@\(name)"
        case .systemd(let name): "systemd:\(name)"
        }
    }

    static let expected =
        """
        write an address such as 127.0.0.1:8080, \"[::1]:8080\", localhost:8080, unix:/path, unix:@name or \
        systemd:NAME
        """
}

extension String {
    /// Whether the text can name a Unix socket in the file system: absolute, and it fits `sun_path`.
    var isSocketPath: Bool {
        hasPrefix("/") && utf8.count > 1 && utf8.count <= 107 && !utf8.contains(0)
    }
}

/// The address of a socket, kept as the bytes of the `sockaddr` that Linux takes and gives.
public struct SocketAddress: Hashable, Sendable {
    /// What kind of address it is.
    public enum Family: UInt16, Sendable {
        /// A Unix socket, with a path, an abstract name or no name (AF_UNIX).
        case unix = 1
        /// An IPv4 address and a port (AF_INET).
        case ipv4 = 2
        /// An IPv6 address and a port (AF_INET6).
        case ipv6 = 10
    }

    /// The `sockaddr_un`, `sockaddr_in` or `sockaddr_in6`, exactly as long as the system calls want it.
    public let bytes: [UInt8]
    /// What kind of address it is.
    public let family: Family

    /// The longest path or abstract name of a Unix socket, in bytes; a path needs one more for its final zero.
    public static let maxUnixName = 107

    /// Takes what the kernel wrote; none for a family that is not known here, or too few bytes for the family.
    public init?(bytes: Span<UInt8>) {
        guard bytes.count >= 2, let family = Family(rawValue: UInt16(bytes[0]) | UInt16(bytes[1]) << 8) else {
            return nil
        }
        let needed =
            switch family {
            case .unix: 2
            case .ipv4: 16
            case .ipv6: 28
            }
        guard bytes.count >= needed else { return nil }
        self.family = family
        self.bytes = bytes.extracting(0..<(family == .unix ? bytes.count : needed)).array
    }

    private init(_ family: Family, _ rest: [UInt8]) {
        self.family = family
        // The family is in host order, which is little-endian wherever this runs.
        bytes = [UInt8(family.rawValue), 0] + rest
    }

    /// An IPv4 address from its four bytes.
    public static func ipv4(_ address: [UInt8], port: UInt16) -> SocketAddress {
        precondition(address.count == 4)
        return SocketAddress(.ipv4, portBytes(port) + address + [UInt8](repeating: 0, count: 8))
    }

    /// An IPv6 address from its sixteen bytes, without scope.
    public static func ipv6(_ address: [UInt8], port: UInt16) -> SocketAddress {
        precondition(address.count == 16)
        return SocketAddress(.ipv6, portBytes(port) + [0, 0, 0, 0] + address + [0, 0, 0, 0])
    }

    /// The Unix socket at `path`; none if the path is empty, too long or has a zero byte.
    public static func unix(path: String) -> SocketAddress? {
        let path = Array(path.utf8)
        guard !path.isEmpty, path.count <= maxUnixName, !path.contains(0) else { return nil }
        return SocketAddress(.unix, path + [0])
    }

    /// The Unix socket with `name` in the abstract namespace; none if the name is empty or too long.
    public static func abstract(name: String) -> SocketAddress? {
        let name = Array(name.utf8)
        guard !name.isEmpty, name.count <= maxUnixName else { return nil }
        return SocketAddress(.unix, [0] + name)
    }

    /// The port; none for a Unix socket.
    public var port: UInt16? {
        family == .unix ? nil : UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }

    /// The same address with another port; a Unix socket has none and stays as it is.
    public func with(port: UInt16) -> SocketAddress {
        guard family != .unix else { return self }
        return SocketAddress(family, Self.portBytes(port) + bytes.dropFirst(4))
    }

    /// Whether only this host can be at the other end: a Unix socket, 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        switch family {
        case .unix: true
        case .ipv4: bytes[4] == 127
        case .ipv6: isLoopbackIPv6
        }
    }

    private var isLoopbackIPv6: Bool {
        let address = ipAddress
        if IPAddressText.isMappedIPv4(address) { return address[address.startIndex + 12] == 127 }
        return address.dropLast().allSatisfy { $0 == 0 } && address.last == 1
    }

    /// The four or sixteen bytes of the IP address; none for a Unix socket.
    var ipAddress: ArraySlice<UInt8> {
        switch family {
        case .unix: []
        case .ipv4: bytes[4..<8]
        case .ipv6: bytes[8..<24]
        }
    }

    private static func portBytes(_ port: UInt16) -> [UInt8] {
        [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
    }
}

extension SocketAddress: CustomStringConvertible {
    /// `127.0.0.1:8080`, `[::1]:8080`, `unix:/path`, `unix:@name`, or `unix:` for a Unix socket without a name.
    public var description: String {
        switch family {
        case .ipv4: IPAddressText.ipv4(ipAddress) + ":\(port ?? 0)"
        case .ipv6: "[" + IPAddressText.ipv6(ipAddress) + "]:\(port ?? 0)"
        case .unix: "unix:" + unixName
        }
    }

    private var unixName: String {
        let name = bytes.dropFirst(2)
        guard name.first == 0 else { return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self) }
        return name.count == 1 ? "" : "@" + String(decoding: name.dropFirst(), as: UTF8.self)
    }
}

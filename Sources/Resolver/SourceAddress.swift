internal import Bytes
private import Glibc

/// The source addresses that the kernel chooses.
enum SourceAddress {
    /// Returns the local address from which this host reaches `destination`, or `nil` without a route.
    ///
    /// Nothing is sent.
    static func of(_ destination: SocketAddress) -> SocketAddress? {
        let family = Int32(destination.family.rawValue)
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, type, Int32(IPPROTO_UDP))
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let isConnected = unsafe destination.bytes.withUnsafeBytes { bytes in
            let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return unsafe connect(descriptor, address, socklen_t(bytes.count)) == 0
        }
        guard isConnected else { return nil }
        var local = [UInt8](repeating: 0, count: MemoryLayout<sockaddr_storage>.size)
        var count = socklen_t(local.count)
        let isNamed = unsafe local.withUnsafeMutableBytes { bytes in
            let address = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return unsafe getsockname(descriptor, address, &count) == 0
        }
        guard isNamed else { return nil }
        return SocketAddress(bytes: local.span.extracting(0..<min(Int(count), local.count)))
    }
}

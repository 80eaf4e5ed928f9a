internal import Bytes
internal import Glibc

extension SocketAddress {
    /// Reads the local address of a socket; none if it has none that is known.
    init?(localOf descriptor: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let bytes = unsafe withUnsafeMutableBytes(of: &storage) { buffer -> [UInt8]? in
            let status = unsafe getsockname(
                descriptor,
                buffer.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                &length
            )
            return unsafe status == 0 ? Array(buffer.prefix(Int(length))) : nil
        }
        guard let bytes else { return nil }
        self.init(bytes: bytes.span)
    }

    /// Lends the address in the form that `bind` and `connect` take.
    func withSystemForm<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { raw in
            unsafe raw.withMemoryRebound(to: sockaddr.self) { unsafe body($0.baseAddress!, socklen_t(bytes.count)) }
        }
    }
}

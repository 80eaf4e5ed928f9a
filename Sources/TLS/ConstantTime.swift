private import COpenSSL

/// Comparisons of secrets.
public enum ConstantTime {
    /// Whether two texts are the same; how long that takes tells their lengths, and not where they differ.
    public static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return unsafe CRYPTO_memcmp(first, second, right.count) == 0
            }
        }
    }
}

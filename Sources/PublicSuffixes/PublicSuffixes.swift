private import CPsl

/// The domains below which strangers register names, such as `com`, `co.uk` and `github.io`: Mozilla's Public Suffix List.
///
/// It is compiled into libpsl and never changes while the process runs, so any thread may ask.
public enum PublicSuffixes {
    /// Whether a domain is a public suffix, as one without a dot is that the list does not have.
    ///
    /// - Parameter domain: the domain in small letters, internationalized labels in Punycode; a dot at its end is passed over.
    /// - Returns: whether strangers may register names below it.
    public static func contains(_ domain: [UInt8]) -> Bool {
        let name = domain.last == UInt8(ascii: ".") ? domain.dropLast() : domain[...]
        // A libpsl that was built without a list has none.
        guard let list = unsafe psl_builtin() else { return !name.contains(UInt8(ascii: ".")) }
        let text = name.map { CChar(bitPattern: $0) } + [0]
        return unsafe psl_is_public_suffix(list, text) == 1
    }

    /// The version of libpsl.
    public static var libraryVersion: String { unsafe String(cString: psl_get_version()) }
}

/// Why a message could not be decompressed.
public enum DecompressionError: Error {
    /// The bytes are not of that compression, broken, cut off, or followed by others.
    case malformed
    /// They stand for more bytes than are allowed.
    case overLimit
}

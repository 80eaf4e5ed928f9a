internal import Bytes

/// How messages are compressed, by the names that all protocols share.
public enum Compression: UInt8, CaseIterable, Sendable {
    /// Not at all.
    case identity
    case gzip
    case br
    case zstd
    case deflate
    case snappy
    /// In a way that no peer can be expected to know.
    case unknown

    /// Recognises the value of a field in any case; an empty value is `identity`, and `x-gzip` is gzip (RFC 9110 §8.4.1.3).
    public init(name: Span<UInt8>) {
        self = Self.recognize(name)
    }

    /// The name in fields and queries; none for a way that has no known one.
    public var name: StaticString? {
        switch self {
        case .identity: "identity"
        case .gzip: "gzip"
        case .br: "br"
        case .zstd: "zstd"
        case .deflate: "deflate"
        case .snappy: "snappy"
        case .unknown: nil
        }
    }

    private static func recognize(_ name: Span<UInt8>) -> Compression {
        switch name.count {
        case 0: .identity
        case 2: name.equalsIgnoringCase("br") ? .br : .unknown
        case 4: name.equalsIgnoringCase("gzip") ? .gzip : name.equalsIgnoringCase("zstd") ? .zstd : .unknown
        case 6: name.equalsIgnoringCase("snappy") ? .snappy : name.equalsIgnoringCase("x-gzip") ? .gzip : .unknown
        case 7: name.equalsIgnoringCase("deflate") ? .deflate : .unknown
        case 8: name.equalsIgnoringCase("identity") ? .identity : .unknown
        default: .unknown
        }
    }
}

internal import Bytes

/// The name of a codec, as content types and queries have it.
public enum CodecName: Sendable {
    /// One of those that Connect and gRPC define.
    case standard(StaticString)
    /// Any other.
    case other([UInt8])

    /// Takes a name as it stands there.
    public init(_ name: Span<UInt8>) {
        if name.equals("proto") {
            self = .standard("proto")
        } else if name.equals("json") {
            self = .standard("json")
        } else {
            self = .other(name.array)
        }
    }

    /// Whether the name is empty.
    public var isEmpty: Bool { if case .other(let name) = self { name.isEmpty } else { false } }

    /// The name of a codec that Martlet knows; no name for another.
    public init(_ codec: Codec) {
        switch codec {
        case .proto: self = .standard("proto")
        case .json: self = .standard("json")
        case .other: self = .other([])
        }
    }
}

extension CodecName: CustomStringConvertible {
    /// The name as text.
    public var description: String {
        switch self {
        case .standard(let name): name.description
        case .other(let name): String(decoding: name, as: UTF8.self)
        }
    }
}

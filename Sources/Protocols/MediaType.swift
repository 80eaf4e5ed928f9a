internal import Bytes

/// What a content type says about protocol and codec, whatever its case and its parameters (RFC 9110 §8.3.1).
struct MediaType: Equatable {
    enum Family {
        case connectStream, grpc, grpcWeb, grpcWebText
        /// `application/<codec>`: a bare message, if it is RPC at all.
        case bare
        case foreign
    }

    let family: Family
    let codec: Codec
    /// Whether the type itself names the codec: gRPC's may leave that to the reader.
    let namesCodec: Bool

    init(_ field: Span<UInt8>?) {
        // What most calls say, in the spelling that most use.
        if let field, field.equals("application/json") {
            (family, codec, namesCodec) = (.bare, .json, true)
            return
        }
        if let field, field.equals("application/grpc") {
            (family, codec, namesCodec) = (.grpc, .proto, false)
            return
        }
        guard let type = field?.mediaType, type.count > 12, type.extracting(0..<12).equalsIgnoringCase("application/")
        else {
            (family, codec, namesCodec) = (.foreign, .other, false)
            return
        }
        let subtype = type.extracting(12..<type.count)
        let plus = subtype.firstIndex(of: UInt8(ascii: "+"))
        let base = subtype.extracting(0..<(plus ?? subtype.count))
        let suffix = subtype.extracting((plus ?? subtype.count - 1) + 1..<subtype.count)
        family = Self.family(base, hasSuffix: plus != nil)
        codec =
            switch family {
            case .bare: Self.codec(subtype)
            case .foreign: .other
            case .connectStream: Self.codec(suffix)
            default: suffix.isEmpty ? .proto : Self.codec(suffix)
            }
        namesCodec = family == .bare || !suffix.isEmpty
    }

    var isJSON: Bool { family == .bare && codec == .json }

    private static func family(_ base: Span<UInt8>, hasSuffix: Bool) -> Family {
        if base.equalsIgnoringCase("grpc") { return .grpc }
        if base.equalsIgnoringCase("grpc-web") { return .grpcWeb }
        if base.equalsIgnoringCase("grpc-web-text") { return .grpcWebText }
        if hasSuffix, base.equalsIgnoringCase("connect") { return .connectStream }
        return .bare
    }

    static func codec(_ name: Span<UInt8>) -> Codec {
        if name.equalsIgnoringCase("proto") { return .proto }
        if name.equalsIgnoringCase("json") { return .json }
        return .other
    }
}

extension Span<UInt8> {
    /// The content type without its parameters and the space around it.
    public var mediaType: Span<UInt8> {
        @_lifetime(copy self)
        get { extracting(0..<(firstIndex(of: UInt8(ascii: ";")) ?? count)).trimmed }
    }
}

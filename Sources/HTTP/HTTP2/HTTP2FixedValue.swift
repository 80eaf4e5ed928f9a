internal import Bytes

/// The values of request fields that may go into the HPACK table of a connection that callers share.
///
/// Each is a whole value that every server can read, and that most calls repeat. A caller can choose among them and write no other.
enum HTTP2FixedValue {
    /// Whether the field and its value are on the list.
    @inline(__always)
    static func contains(_ field: KnownField, _ value: Span<UInt8>) -> Bool {
        switch field {
        case .contentType: isContentType(value)
        case .grpcAcceptEncoding, .connectAcceptEncoding, .acceptEncoding: isCodings(value)
        case .grpcEncoding, .connectContentEncoding, .contentEncoding: value.equals("gzip") || value.equals("identity")
        case .connectProtocolVersion: value.equals("1")
        default: false
        }
    }

    private static func isContentType(_ value: Span<UInt8>) -> Bool {
        switch value.count {
        case 16: value.equals("application/grpc") || value.equals("application/json")
        case 17: value.equals("application/proto")
        case 20: value.equals("application/grpc-web")
        case 21: value.equals("application/grpc+json")
        case 22: value.equals("application/grpc+proto")
        case 24: value.equals("application/connect+json")
        case 25: value.equals("application/connect+proto")
        case 26: value.equals("application/grpc-web+proto")
        default: false
        }
    }

    private static func isCodings(_ value: Span<UInt8>) -> Bool {
        switch value.count {
        case 4: value.equals("gzip")
        case 8: value.equals("identity")
        case 13: value.equals("gzip, deflate")
        case 17: value.equals("gzip, deflate, br")
        case 21: value.equals("identity,deflate,gzip")
        case 23: value.equals("identity, deflate, gzip")
        default: false
        }
    }
}

extension HTTPHead {
    /// Whether the method is one of HPACK's static table.
    var hasUsualMethod: Bool {
        let method = method
        return method.equals("POST") || method.equals("GET")
    }
}

internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

/// The trailers that an upstream sends in the body or in the head of a response, on their way to HTTP's.
extension HTTPHead {
    /// The most bytes of names and values that a caller gets; as much as a head may have by default.
    private static let maxForeignBytes = 64 * 1024

    /// Adds those of the fields that can be trailers.
    ///
    /// - Parameter fields: names and values as they have come.
    /// - Throws: what the caller is told about more than it can be given.
    func add(foreign fields: [(name: [UInt8], value: [UInt8])]) throws(RPCError) {
        for (name, value) in fields { try add(foreign: name.span, value.span) }
    }

    /// Adds a field, if it can be a trailer.
    ///
    /// - Parameters:
    ///   - name: the name as it has come.
    ///   - value: the value.
    /// - Throws: what the caller is told about more than it can be given.
    func add(foreign name: Span<UInt8>, _ value: Span<UInt8>) throws(RPCError) {
        guard FieldName.isValid(name), value.isFieldValue else { return }
        add(name: name, value: value)
        guard !known(at: count - 1).isAboutMessage else { return remove(at: count - 1) }
        guard byteCount <= Self.maxForeignBytes else {
            throw RPCError(.resourceExhausted, "the trailers of the response exceed \(Self.maxForeignBytes) bytes")
        }
    }
}

extension KnownField {
    /// Whether the field is about a connection or a message, which is another one on the other side (RFC 9110 §6.5.1, RFC 9113
    /// §8.2.2).
    fileprivate var isAboutMessage: Bool {
        switch self {
        case .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade, .te, .trailer, .host: true
        case .contentLength, .contentType, .contentEncoding: true
        default: false
        }
    }
}

extension Span<UInt8> {
    /// Whether the bytes can be the value of a field: they have no control bytes but tabs.
    fileprivate var isFieldValue: Bool {
        for index in indices where self[index] < 0x20 && self[index] != 0x09 || self[index] == 0x7f { return false }
        return true
    }
}

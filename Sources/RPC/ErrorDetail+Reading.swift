internal import Bytes

extension ErrorDetail {
    /// The details in the value of a field `grpc-status-details-bin`: a `google.rpc.Status` in base64.
    ///
    /// Unknown fields are passed over.
    ///
    /// - Returns: the details in their order; none if the value is not base64 or not a message of Protobuf.
    public static func details(grpcStatusDetails field: Span<UInt8>) -> [ErrorDetail]? {
        read(field)?.details
    }

    /// The same, if that message is of an error with `code`.
    public static func details(grpcStatusDetails field: Span<UInt8>, of code: RPCCode) -> [ErrorDetail]? {
        guard let (details, found) = read(field), found == UInt64(code.rawValue) else { return nil }
        return details
    }

    private static func read(_ field: Span<UInt8>) -> (details: [ErrorDetail], code: UInt64)? {
        guard let status = Base64.decode(field.trimmed) else { return nil }
        var reader = ProtobufReader(status[...])
        var details: [ErrorDetail] = []
        var code: UInt64 = 0
        while let (number, value) = reader.next() {
            if number == 1, value == nil { code = reader.integer }
            guard number == 3, let value else { continue }
            guard let detail = ErrorDetail(any: value) else { return nil }
            details.append(detail)
        }
        return reader.isValid ? (details, code) : nil
    }

    /// Reads a `google.protobuf.Any`; of a field that stands there twice, the last counts.
    private init?(any: ArraySlice<UInt8>) {
        self.init(type: "", value: [])
        var reader = ProtobufReader(any)
        while let (number, value) = reader.next() {
            guard let value else { continue }
            switch number {
            case 1: type = Self.name(fromURL: value)
            case 2: self.value = Array(value)
            default: break
            }
        }
        guard reader.isValid else { return nil }
    }

    /// The name of a type behind the URL before it, if there is one: `type.googleapis.com/google.rpc.RetryInfo`.
    private static func name(fromURL url: ArraySlice<UInt8>) -> String {
        let slash = url.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? url.startIndex
        return String(decoding: url[slash...], as: UTF8.self)
    }
}

/// Reads the fields of one Protobuf message, of which only those with a length have values that matter here.
private struct ProtobufReader {
    private var bytes: ArraySlice<UInt8>
    /// Whether everything read so far was sound.
    private(set) var isValid = true
    /// The value of the last field that was a variable-length integer.
    private(set) var integer: UInt64 = 0

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The number of the next field, and its bytes if it has a length; none at the end, or where the message is broken.
    mutating func next() -> (number: UInt64, value: ArraySlice<UInt8>?)? {
        guard !bytes.isEmpty else { return nil }
        isValid = false
        guard let tag = variable(), tag >> 3 > 0 else { return nil }
        var value: ArraySlice<UInt8>?
        switch tag & 7 {
        case 0:
            guard let value = variable() else { return nil }
            integer = value
        case 1: guard read(8) != nil else { return nil }
        case 2:
            value = variable().flatMap { read($0) }
            guard value != nil else { return nil }
        case 5: guard read(4) != nil else { return nil }
        default: return nil
        }
        isValid = true
        return (tag >> 3, value)
    }

    private mutating func variable() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    private mutating func read(_ count: UInt64) -> ArraySlice<UInt8>? {
        guard count <= UInt64(bytes.count) else { return nil }
        defer { bytes = bytes.dropFirst(Int(count)) }
        return bytes.prefix(Int(count))
    }
}

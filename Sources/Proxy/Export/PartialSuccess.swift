internal import Documents

/// What a receiver of OTLP did not accept of a request to which it responded with success.
struct PartialSuccess: Equatable {
    /// How many spans or data points it has rejected.
    var rejected = 0
    /// Why, or what else it says to people.
    var message = ""

    /// Reads the response to a request; everything is accepted if it cannot be read.
    init(_ body: [UInt8], isJSON: Bool) {
        if isJSON { readJSON(body) } else { readProtobuf(body) }
    }

    /// `Export…ServiceResponse { partial_success = 1 { int64 rejected_… = 1; string error_message = 2; } }`.
    private mutating func readProtobuf(_ body: [UInt8]) {
        guard let part = Self.fields(body[...]).first(where: { $0.number == 1 })?.bytes else { return }
        for field in Self.fields(part) {
            switch field.number {
            case 1: rejected = Int(clamping: Int64(bitPattern: field.value))
            case 2: message = String(decoding: field.bytes ?? [], as: UTF8.self)
            default: break
            }
        }
    }

    /// `{ "partialSuccess": { "rejectedSpans": "1", "errorMessage": "" } }`, or `rejectedDataPoints`.
    private mutating func readJSON(_ body: [UInt8]) {
        guard let part = (try? JSON.parse(body))?["partialSuccess"] else { return }
        message = part["errorMessage"]?.string ?? ""
        let count = part["rejectedSpans"] ?? part["rejectedDataPoints"]
        rejected = count?.integer ?? count?.string.flatMap { Int($0) } ?? 0
    }

    private struct Field {
        let number: Int
        /// The number of a field of the wire type 0.
        var value: UInt64 = 0
        /// The bytes of a field of the wire type 2.
        var bytes: ArraySlice<UInt8>?
    }

    /// The fields of the wire types 0 and 2, up to the first of another one.
    private static func fields(_ bytes: ArraySlice<UInt8>) -> [Field] {
        var (rest, fields) = (bytes, [Field]())
        while let tag = varint(&rest), let value = varint(&rest) {
            var field = Field(number: Int(clamping: tag >> 3), value: value)
            switch tag & 7 {
            case 0: break
            case 2:
                guard let count = Int(exactly: value), count <= rest.count else { return fields }
                field.bytes = rest.prefix(count)
                rest = rest.dropFirst(count)
            default: return fields
            }
            fields.append(field)
        }
        return fields
    }

    private static func varint(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}

internal import Bytes
internal import RPC
internal import Time

/// How bytes are written in fields: base64, percent-encoding, time-outs, and the message of Protobuf that tells of details.
enum Codecs {
    static func run(_ input: Span<UInt8>) {
        base64(input)
        percent(input)
        timeouts(input)
        details(input)
    }

    private static func base64(_ input: Span<UInt8>) {
        for alphabet in [Base64.standard, .urlSafe] {
            for padded in [true, false] {
                let text = ByteQueue()
                text.append(base64: input, alphabet, padded: padded)
                demandSame(Base64.decode(text.readable), input.array, "base64 there and back")
            }
        }
        guard let bytes = Base64.decode(input) else { return }
        let text = ByteQueue()
        text.append(base64: bytes.span)
        demandSame(Base64.decode(text.readable), bytes, "base64 back and there")
        let digits = input.array.filter { $0 != UInt8(ascii: "=") }
        demandSame(bytes.count, digits.count * 3 / 4, "base64 has three bytes in four characters")
    }

    private static func percent(_ input: Span<UInt8>) {
        let text = ByteQueue()
        text.append(percentEncoding: input)
        demandSame(PercentEncoding.decode(text.readable), input.array, "percent-encoding there and back")
        for byte in text.readable.array { demand(0x20...0x7e ~= byte, "what is encoded can be printed") }
        demand(PercentEncoding.decode(input).count <= input.count, "what is decoded is not longer")
    }

    private static func timeouts(_ input: Span<UInt8>) {
        for field in TimeoutField.allCases {
            let read = field.read(input)
            demandSame(read?.nanoseconds, expected(input.array, field), "\(field.name) of \(input.array)")
            guard let read else { continue }
            let text = field.text(of: read)
            guard let again = field.read(text.bytes) else { fail("\(field.name) reads what it writes") }
            demand(again <= max(read, Duration.nanoseconds(1_000_000)), "a time-out is rounded down")
        }
    }

    /// What the protocols say of the value, in another way than the code that reads it.
    private static func expected(_ value: [UInt8], _ field: TimeoutField) -> Int64? {
        var digits = value
        var unit: Int64 = 1_000_000
        if field == .grpc {
            let units: [UInt8: Int64] = [
                UInt8(ascii: "H"): 3_600_000_000_000, UInt8(ascii: "M"): 60_000_000_000,
                UInt8(ascii: "S"): 1_000_000_000, UInt8(ascii: "m"): 1_000_000, UInt8(ascii: "u"): 1000,
                UInt8(ascii: "n"): 1,
            ]
            guard let last = digits.popLast(), let found = units[last] else { return nil }
            unit = found
        }
        let maxDigits = field == .grpc ? 8 : 10
        guard 1...maxDigits ~= digits.count, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        let number = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        return number.multipliedReportingOverflow(by: unit).overflow ? .max : number * unit
    }

    private static func details(_ input: Span<UInt8>) {
        let field = ByteQueue()
        field.append(base64: input)
        _ = ErrorDetail.details(grpcStatusDetails: field.readable)
        _ = ErrorDetail.details(grpcStatusDetails: input)
        // A name without a slash, since one that has is taken for a URL.
        let name = input.extracting(0..<min(8, input.count)).array.filter { $0 != UInt8(ascii: "/") }.span.string
        let error = RPCError(
            .internal,
            input.string,
            details: [ErrorDetail(type: name, value: input.array), ErrorDetail(type: "b", value: [])]
        )
        let status = ByteQueue()
        status.append(base64: error.status.span)
        demandSame(ErrorDetail.details(grpcStatusDetails: status.readable), error.details, "details there and back")
    }
}

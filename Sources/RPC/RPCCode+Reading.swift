internal import Bytes

extension RPCCode {
    /// The code called `name`; none if there is no such code.
    public init?(name: Span<UInt8>) {
        var number: UInt8 = 0
        while let code = RPCCode(rawValue: number) {
            if name.equals(code.name) {
                self = code
                return
            }
            number += 1
        }
        return nil
    }

    /// The code called `name`; none if there is no such code.
    public init?(name: String) {
        self.init(name: name.utf8Span.span)
    }

    /// The code that a `grpc-status` field gives; `unknown` for anything but a number from 0 to 16.
    public init(grpcStatus field: Span<UInt8>) {
        self = RPCCode(validGRPCStatus: field) ?? .unknown
    }

    /// The code that a `grpc-status` field gives; `nil` unless it is a number from 0 to 16 without leading zeros.
    public init?(validGRPCStatus field: Span<UInt8>) {
        let text = field.trimmed
        guard text.count == 1 || text.count == 2 && text[0] != UInt8(ascii: "0"),
            let number = text.decimal.flatMap(UInt8.init(exactly:))
        else { return nil }
        self.init(rawValue: number)
    }
}

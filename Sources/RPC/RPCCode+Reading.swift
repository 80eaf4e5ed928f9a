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

    /// The code a `grpc-status` field gives; `unknown` for anything but a number from 0 to 16.
    public init(grpcStatus field: Span<UInt8>) {
        self = field.trimmed.decimal.flatMap(UInt8.init(exactly:)).flatMap(RPCCode.init(rawValue:)) ?? .unknown
    }
}

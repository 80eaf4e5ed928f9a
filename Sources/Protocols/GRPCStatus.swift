internal import Bytes
internal import RPC

/// The outcome a gRPC or gRPC-Web response names.
struct GRPCStatus: Equatable, Sendable {
    let code: RPCCode
    /// The message, without percent-encoding.
    let message: [UInt8]

    /// Reads the values of `grpc-status` and `grpc-message`; none if there is no status.
    init?(status: Span<UInt8>?, message: Span<UInt8>?) {
        guard let status else { return nil }
        code = RPCCode(grpcStatus: status)
        if let message {
            self.message = PercentEncoding.decode(message)
        } else {
            self.message = []
        }
    }

    /// Reads the lines of a gRPC-Web trailer frame, whose names may be in any case; none if none is the status.
    init?(lines: Span<UInt8>) {
        var code: RPCCode?
        var message: [UInt8] = []
        var walker = TrailerLines()
        while let line = walker.next(in: lines) {
            let name = lines.extracting(line.name)
            let value = lines.extracting(line.value)
            if name.equalsIgnoringCase("grpc-status") { code = RPCCode(grpcStatus: value) }
            if name.equalsIgnoringCase("grpc-message") { message = PercentEncoding.decode(value) }
        }
        guard let code else { return nil }
        self.code = code
        self.message = message
    }
}

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
        var text: [UInt8] = []
        if let message { text = PercentEncoding.decode(message) }
        self.init(status, text)
    }

    /// Reads the lines of a gRPC-Web trailer frame, whose names may be in any case; none if none is the status.
    init?(lines: Span<UInt8>) {
        var status: Range<Int>?
        var message: [UInt8] = []
        var walker = TrailerLines()
        while let line = walker.next(in: lines) {
            let name = lines.extracting(line.name)
            let value = lines.extracting(line.value)
            if name.equalsIgnoringCase("grpc-status") { status = line.value }
            if name.equalsIgnoringCase("grpc-message") { message = PercentEncoding.decode(value) }
        }
        guard let status else { return nil }
        self.init(lines.extracting(status), message)
    }

    /// A value that is not a code stands for `unknown`, and the message says so before what the upstream says.
    private init(_ status: Span<UInt8>, _ message: [UInt8]) {
        if let code = RPCCode(validGRPCStatus: status) {
            (self.code, self.message) = (code, message)
            return
        }
        let value = status.extracting(0..<min(status.count, 32)).array
        let quoted = String(decoding: value.map { 0x20..<0x7f ~= $0 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
        let problem = "the upstream sent an invalid response: grpc-status \"\(quoted)\" is not a number from 0 to 16"
        code = .unknown
        self.message = Array(problem.utf8) + (message.isEmpty ? [] : Array(": ".utf8) + message)
    }
}

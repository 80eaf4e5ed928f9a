internal import Bytes
internal import Protocols
internal import RPC

/// How a call has ended by its upstream, for a caller that speaks something else.
struct TranslatedEnd {
    /// The error, with its details; none if the call was a success.
    let error: RPCError?
    /// The trailers without what says the outcome.
    let trailers: [(name: [UInt8], value: [UInt8])]
    /// The trailers with what says the outcome in gRPC.
    let fields: [(name: [UInt8], value: [UInt8])]

    /// Concludes from what an upstream has said in gRPC or gRPC-Web.
    ///
    /// - Parameters:
    ///   - conclusion: the outcome.
    ///   - arrived: the fields that have come with it.
    ///   - status: the HTTP status of the response.
    ///   - messages: the number of messages, where the caller is to have exactly one.
    init(
        _ conclusion: Conclusion,
        arrived: [(name: [UInt8], value: [UInt8])],
        status: Int,
        messages: Int?
    ) {
        let said = arrived.first { $0.name == Self.status }.map { RPCCode(grpcStatus: $0.value.span) }
        let code = conclusion.code(fromName: nil)
        var error: RPCError?
        if code != .ok {
            error = RPCError(code, Self.message(of: conclusion, wasSaid: said == code, status: status))
            let details = arrived.first { $0.name == Self.details }
            error?.details = details.flatMap { ErrorDetail.details(grpcStatusDetails: $0.value.span, of: code) } ?? []
        } else if let messages, messages != 1 {
            error = RPCError(.unimplemented, "the response has \(messages) messages, but the call is unary")
        }
        error = error.map(Self.bounded)
        let trailers = arrived.filter { !Self.outcome.contains($0.name) }
        // What says the outcome by itself stays as it is.
        let isSaid = said == error?.code ?? .ok && !arrived.contains { $0.value.count > Self.maxText }
        fields = isSaid ? arrived : trailers + CallerSide.grpcFields(error)
        self.trailers = trailers
        self.error = error
    }

    /// Takes what an upstream has said in Connect.
    init(connect error: RPCError?, trailers: [(name: [UInt8], value: [UInt8])]) {
        let error = error.map(Self.bounded)
        self.error = error
        self.trailers = trailers
        fields = trailers + CallerSide.grpcFields(error)
    }

    /// The error with no more text and details than a head of the caller can have: the code is worth more.
    private static func bounded(_ error: RPCError) -> RPCError {
        var bounded = error
        if error.message.utf8.count > maxText {
            bounded.message = String(error.message.unicodeScalars.prefix(maxText / 4))
        }
        if error.details.reduce(0, { $0 + $1.value.count }) > maxText { bounded.details = [] }
        return bounded
    }

    /// The most bytes of a message, and of all details.
    private static let maxText = 16 * 1024

    static func message(of conclusion: Conclusion, wasSaid: Bool, status: Int) -> String {
        if case .code(_, let message) = conclusion, wasSaid || !message.isEmpty {
            return String(decoding: message, as: UTF8.self)
        }
        guard status == 200 else { return "the upstream responded with HTTP status \(status)" }
        return conclusion.code(fromName: nil) == .unknown
            ? "the upstream did not say how the call ended" : "the upstream sent an invalid response"
    }

    private static let status = Array("grpc-status".utf8)
    private static let details = Array("grpc-status-details-bin".utf8)
    /// What says the outcome.
    static let outcome = [status, Array("grpc-message".utf8), details]
}

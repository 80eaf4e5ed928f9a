internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

/// How a call has ended by its upstream, for a caller that speaks something else.
struct TranslatedEnd {
    /// The error, with its details; none if the call was a success.
    let error: RPCError?
    /// The trailers that have come, if any have.
    private let trailers: HTTPHead?
    /// Whether what they say of the outcome holds as it is.
    private let isSaid: Bool

    /// Concludes from what an upstream has said in gRPC or gRPC-Web.
    ///
    /// - Parameters:
    ///   - conclusion: the outcome.
    ///   - trailers: the fields that have come with it, if any have.
    ///   - status: the HTTP status of the response.
    ///   - messages: the number of messages, where the caller is to have exactly one.
    init(_ conclusion: Conclusion, trailers: HTTPHead?, status: Int, messages: Int?) {
        let field = trailers?.first(.grpcStatus)
        var said: RPCCode?
        if let trailers, let field { said = RPCCode(validGRPCStatus: trailers.value(at: field)) }
        let code = conclusion.code(fromName: nil)
        self.trailers = trailers
        if code == .ok, messages ?? 1 == 1 {
            error = nil
        } else if code == .ok {
            error = RPCError(.unimplemented, "the response has \(messages ?? 0) messages, but the call is unary")
        } else {
            var error = RPCError(code, Self.message(of: conclusion, wasSaid: said == code, status: status))
            if let trailers, let index = trailers.first(.grpcStatusDetails) {
                error.details = ErrorDetail.details(grpcStatusDetails: trailers.value(at: index), of: code) ?? []
            }
            self.error = Self.bounded(error)
        }
        isSaid = said == error?.code ?? .ok && trailers?.hasLongValue != true
    }

    /// Takes what an upstream has said in Connect.
    init(connect error: RPCError?, trailers: HTTPHead?) {
        self.error = error.map(Self.bounded)
        self.trailers = trailers
        isSaid = false
    }

    /// Visits the trailers, with or without what says the outcome in gRPC.
    func forEachTrailer(withOutcome: Bool, _ visit: (Span<UInt8>, Span<UInt8>) -> Void) {
        let keepsOutcome = withOutcome && isSaid
        if let trailers {
            for index in 0..<trailers.count where keepsOutcome || !trailers.known(at: index).isOutcome {
                let name = trailers.name(at: index)
                if name.hasSuffix(HTTPHead.binarySuffix), let value = trailers.value(at: index).unpaddedBase64 {
                    visit(name, value.span)
                } else {
                    visit(name, trailers.value(at: index))
                }
            }
        }
        guard withOutcome, !isSaid else { return }
        for (name, value) in CallerSide.grpcFields(error) { visit(name.span, value.span) }
    }

    /// The trailers without what says the outcome.
    var pairs: [(name: [UInt8], value: [UInt8])] {
        var pairs: [(name: [UInt8], value: [UInt8])] = []
        forEachTrailer(withOutcome: false) { pairs.append(($0.array, $1.array)) }
        return pairs
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
    fileprivate static let maxText = 16 * 1024

    static func message(of conclusion: Conclusion, wasSaid: Bool, status: Int) -> String {
        if case .code(_, let message) = conclusion, wasSaid || !message.isEmpty {
            return String(decoding: message, as: UTF8.self)
        }
        guard status == 200 else { return "the upstream responded with HTTP status \(status)" }
        return conclusion.code(fromName: nil) == .unknown
            ? "the upstream did not say how the call ended" : "the upstream sent an invalid response"
    }
}

extension HTTPHead {
    /// Whether a value is longer than a head of the caller can have.
    fileprivate var hasLongValue: Bool {
        for index in 0..<count where value(at: index).count > TranslatedEnd.maxText { return true }
        return false
    }
}

internal import Bytes
internal import Configuration
internal import HTTP
internal import RPC

/// Reads the response to a health check, be it of `grpc.health.v1` or of plain HTTP.
///
/// Pure; what is read is bounded.
struct HealthResponse {
    /// What a check has come to.
    enum Result: Equatable, Sendable {
        /// The address gets calls.
        case up
        /// It does not know what it is asked, and gets calls; with the words for people.
        case unknown(String)
        /// It should get none.
        case down(String)

        /// The words for people; none if it is up.
        var text: String {
            switch self {
            case .up: ""
            case .unknown(let text), .down(let text): text
            }
        }

        /// The name in metrics.
        var label: String {
            switch self {
            case .up: "up"
            case .unknown: "unknown"
            case .down: "down"
            }
        }
    }

    /// More than a message of the protocol ever has, in bytes.
    private static let maxMessage = 256

    private let isRPC: Bool
    private var status = 0
    private var isGRPC = false
    private var body: [UInt8] = []
    private var isTooLong = false

    /// Makes a reader of what follows a request.
    init(to request: UpstreamHealthSettings.Request) {
        if case .grpc = request { isRPC = true } else { isRPC = false }
    }

    /// The head has come.
    mutating func read(head: HTTPHead) {
        status = head.status
        let type = head.first(.contentType).map { head.value(at: $0).string } ?? ""
        isGRPC = type.hasPrefix("application/grpc") && !type.hasPrefix("application/grpc-web")
    }

    /// A part of the body has come.
    mutating func read(body bytes: Span<UInt8>) {
        guard isRPC else { return }
        if body.count + bytes.count > Self.maxMessage { isTooLong = true } else { body += bytes.array }
    }

    /// The response is over.
    ///
    /// - Parameter trailers: the fields that say how a gRPC response has ended, in the head if that is all.
    /// - Returns: what the check has come to.
    func result(trailers: HTTPHead?) -> Result {
        guard isRPC else {
            return 200..<400 ~= status ? .up : .down("HTTP status \(status)")
        }
        guard let trailers, let index = trailers.first(.grpcStatus) else {
            guard status == 200 else { return withoutStatus }
            return .down(isGRPC ? "the response has no gRPC status" : "the response is not gRPC")
        }
        switch RPCCode(grpcStatus: trailers.value(at: index)) {
        case .ok: return serving
        case .notFound: return .unknown("it does not know the service")
        case .unimplemented: return .unknown("it has no health service")
        case let code:
            let message = trailers.first(.grpcMessage).map { PercentEncoding.decode(trailers.value(at: $0)) } ?? []
            let text = String(decoding: message.prefix(200), as: UTF8.self)
            return .down("code \(code.name)\(text.isEmpty ? "" : ": \(text)")")
        }
    }

    /// gRPC has a code for an HTTP status: 404 is a server that does not know the method.
    private var withoutStatus: Result {
        RPCCode(inferredFromStatus: status) == .unimplemented
            ? .unknown("it has no health service") : .down("HTTP status \(status)")
    }

    /// What the message says: `HealthCheckResponse { ServingStatus status = 1; }`.
    private var serving: Result {
        guard !isTooLong, body.count >= Envelope.size, body[0] == 0, let value = statusField else {
            return .down("the response is not of grpc.health.v1")
        }
        switch value {
        case 0: return .down("UNKNOWN")
        case 1: return .up
        case 2: return .down("NOT_SERVING")
        case 3: return .unknown("it does not know the service")
        default: return .down("status \(value)")
        }
    }

    /// Field 1 of the message, 0 if it is absent; none if that is no message.
    ///
    /// Other fields are no part of the protocol.
    private var statusField: UInt64? {
        let message = body.dropFirst(Envelope.size)
        guard message.count == body[1..<Envelope.size].reduce(0, { $0 << 8 | Int($1) }) else { return nil }
        guard let tag = message.first else { return 0 }
        guard tag == 0x08, message.count <= 11, message.last.map({ $0 < 0x80 }) == true else { return nil }
        let digits = message.dropFirst()
        guard !digits.isEmpty, digits.dropLast().allSatisfy({ $0 >= 0x80 }) else { return nil }
        return digits.reversed().reduce(0) { $0 &<< 7 | UInt64($1 & 0x7f) }
    }
}

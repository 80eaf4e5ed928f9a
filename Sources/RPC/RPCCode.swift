/// The outcome of a call: one of the seventeen codes Connect and gRPC share; the raw value is gRPC's number.
public enum RPCCode: UInt8, CaseIterable, Sendable {
    /// The call succeeded.
    case ok = 0
    /// The caller went away.
    case canceled = 1
    /// Nothing more precise is known.
    case unknown = 2
    /// The request is wrong whatever the state of the service.
    case invalidArgument = 3
    /// The time ran out.
    case deadlineExceeded = 4
    /// What was asked for is not there.
    case notFound = 5
    /// What was to be made is there already.
    case alreadyExists = 6
    /// The caller is known and may not.
    case permissionDenied = 7
    /// A quota or a limit is used up.
    case resourceExhausted = 8
    /// The service is not in the state the request needs.
    case failedPrecondition = 9
    /// The call lost against another one.
    case aborted = 10
    /// The request reaches past the valid range.
    case outOfRange = 11
    /// The service does not have this method.
    case unimplemented = 12
    /// Something that must hold does not.
    case `internal` = 13
    /// The service cannot be reached now; retrying may help.
    case unavailable = 14
    /// Data are lost or damaged for good.
    case dataLoss = 15
    /// The caller is not known.
    case unauthenticated = 16

    /// The name Connect, the configuration, the logs and the metrics use.
    public var name: StaticString {
        switch self {
        case .ok: "ok"
        case .canceled: "canceled"
        case .unknown: "unknown"
        case .invalidArgument: "invalid_argument"
        case .deadlineExceeded: "deadline_exceeded"
        case .notFound: "not_found"
        case .alreadyExists: "already_exists"
        case .permissionDenied: "permission_denied"
        case .resourceExhausted: "resource_exhausted"
        case .failedPrecondition: "failed_precondition"
        case .aborted: "aborted"
        case .outOfRange: "out_of_range"
        case .unimplemented: "unimplemented"
        case .internal: "internal"
        case .unavailable: "unavailable"
        case .dataLoss: "data_loss"
        case .unauthenticated: "unauthenticated"
        }
    }
}

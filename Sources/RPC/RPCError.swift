/// Why a call failed, free of any protocol.
public struct RPCError: Error, Sendable {
    /// The outcome; never `ok`.
    public var code: RPCCode
    /// What went wrong, for a human; may be empty.
    public var message: String
    /// Typed details, in the order the caller sees them.
    public var details: [ErrorDetail]
    /// Fields for the caller, with lower-case names that no protocol owns and values without line breaks.
    public var metadata: [(name: String, value: String)]
    /// The HTTP status to respond with where the protocol lets it carry meaning, instead of that of the code.
    public var httpStatus: Int?
    /// The compressions that the caller may use instead, if that of the request is the reason.
    public private(set) var compressions: [Compression] = []

    /// Describes a failure.
    public init(
        _ code: RPCCode,
        _ message: String,
        details: [ErrorDetail] = [],
        metadata: [(name: String, value: String)] = [],
        httpStatus: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.metadata = metadata
        self.httpStatus = httpStatus
    }

    /// Returns the error of a request whose compression cannot be used; the error lists `compressions`, which can.
    public static func unsupported(_ problem: String, use compressions: [Compression]) -> RPCError {
        let names = compressions.compactMap(\.name).map(\.description)
        let list = names.dropLast().joined(separator: ", ") + " or \(names.last ?? "")"
        var error = RPCError(.unimplemented, "\(problem); use \(list)")
        error.compressions = compressions
        return error
    }
}

extension RPCError: Equatable {
    /// Whether the two say the same to a caller.
    public static func == (one: RPCError, other: RPCError) -> Bool {
        one.code == other.code && one.message == other.message && one.details == other.details
            && one.compressions == other.compressions && one.metadata.elementsEqual(other.metadata) { $0 == $1 }
            && one.httpStatus == other.httpStatus
    }
}

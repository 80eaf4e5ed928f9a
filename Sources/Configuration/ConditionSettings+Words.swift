/// The words of conditions for what other parts know as values; tests hold them to those.
extension ConditionSettings {
    /// The protocols, by their names in the access log.
    public static let protocolNames = [
        "connect_unary", "connect_get", "connect_stream", "grpc", "grpc_web", "grpc_web_text", "http", "rest",
    ]

    /// The codes of RPC, by their names in the access log, in the order of their numbers.
    public static let codeNames = [
        "ok", "canceled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists",
        "permission_denied", "resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented",
        "internal", "unavailable", "data_loss", "unauthenticated",
    ]

    /// The protocols that a word of the file stands for.
    static func protocols(_ word: String) -> [String] {
        switch word {
        case "connect": ["connect_unary", "connect_get", "connect_stream"]
        case "grpc_web": ["grpc_web", "grpc_web_text"]
        default: [word]
        }
    }
}

extension TimeoutField {
    /// What a caller is told whose value cannot be read.
    public var malformedError: RPCError {
        switch self {
        case .grpc: RPCError(.invalidArgument, "grpc-timeout must be 1 to 8 digits and one of H, M, S, m, u, n")
        case .connect: RPCError(.invalidArgument, "connect-timeout-ms must be 1 to 10 digits")
        }
    }
}

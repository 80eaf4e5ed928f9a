internal import Protocols
internal import Proxy

/// A request as a command of a program that speaks RPC: the same method, metadata and messages, and not the same bytes.
enum RPCTool {
    /// What these programs make themselves.
    private static let own: Set<String> = [
        "content-type", "content-encoding", "accept-encoding", "te", "user-agent", "accept", "connect-protocol-version",
        "grpc-encoding", "grpc-accept-encoding", "grpc-timeout", "connect-timeout-ms", "connect-content-encoding",
        "connect-accept-encoding", "x-grpc-web", "x-user-agent",
    ]

    /// A command of grpcurl.
    static func grpcurl(_ request: RequestCopy) throws(ShellTool.Unsuitable) -> String {
        guard request.rpcProtocol == .grpc else {
            throw ShellTool.Unsuitable(text: "grpcurl speaks gRPC alone; write with=curl or with=buf")
        }
        var command = ShellCommand("grpcurl")
        if request.tls == nil { command.add("-plaintext") }
        if let file = request.tls?.authorities { command.add("-cacert", file) }
        if request.tls?.isInsecure == true { command.add("-insecure") }
        if let identity = request.tls?.certificate {
            command.add("-cert", identity.file)
            command.add("-key", identity.key)
        }
        let authority = String(decoding: request.authority, as: UTF8.self)
        if authority != request.ownAuthority { command.add("-authority", authority) }
        addMetadata(of: request, to: &command)
        command.add("-d", try data(request))
        if case .unix(let path) = request.place {
            command.add("-unix", path)
        } else {
            command.add("", request.ownAuthority)
        }
        command.add("", String(decoding: request.target.dropFirst(), as: UTF8.self))
        return command.text
    }

    /// A command of buf.
    static func buf(_ request: RequestCopy) throws(ShellTool.Unsuitable) -> String {
        var command = ShellCommand("buf curl")
        switch request.rpcProtocol {
        case .http: throw ShellTool.Unsuitable(text: "the call is plain HTTP; write with=curl")
        case .grpc: command.add("--protocol", "grpc")
        case .grpcWeb, .grpcWebText: command.add("--protocol", "grpcweb")
        case .connectUnary, .connectGet, .connectStream: command.add("--protocol", "connect")
        }
        if request.isHTTP2, request.tls == nil { command.add("--http2-prior-knowledge") }
        if case .unix(let path) = request.place { command.add("--unix-socket", path) }
        if let file = request.tls?.authorities { command.add("--cacert", file) }
        if request.tls?.isInsecure == true { command.add("--insecure") }
        if let identity = request.tls?.certificate {
            command.add("--cert", identity.file)
            command.add("--key", identity.key)
        }
        let authority = String(decoding: request.authority, as: UTF8.self)
        if authority != request.ownAuthority { command.add("-H", "host: \(authority)") }
        addMetadata(of: request, to: &command)
        command.add("-d", try data(request))
        let path = request.target.prefix { $0 != UInt8(ascii: "?") }
        command.add("", "\(request.origin)\(String(decoding: path, as: UTF8.self))")
        return command.text
    }

    private static func addMetadata(of request: RequestCopy, to command: inout ShellCommand) {
        for field in request.fields where !own.contains(String(decoding: field.name, as: UTF8.self)) {
            command.add("-H", RequestCopy.word(field))
        }
        let schema = "the server needs reflection, or add the schema of the service"
        command.note(schema)
    }

    private static func data(_ request: RequestCopy) throws(ShellTool.Unsuitable) -> ShellWord {
        guard let messages = request.messages else {
            throw ShellTool.Unsuitable(
                text: "the messages are not kept as JSON: add types, open a tap, or write with=curl"
            )
        }
        return ShellWord(Array(messages.joined(separator: [UInt8(ascii: "\n")])))
    }
}

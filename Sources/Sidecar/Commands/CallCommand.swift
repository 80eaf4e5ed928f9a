internal import Bytes
internal import Configuration
internal import Protocols
internal import Proxy
internal import RPC
internal import Time
internal import Types

/// `martlet call`: makes a call through the chain of the running daemon, and prints the response as JSON.
struct CallCommand {
    /// What the call is spoken in.
    enum Spoken: String, CaseIterable {
        case connect, grpc
        case grpcWeb = "grpc-web"
    }

    private let file: ConfigurationFile
    private let service: String
    private let method: String
    private let spoken: Spoken
    private let headers: [(name: String, value: String)]
    private let sources: [CallMessages.Source]
    private let fields: CallFields
    private let timeout: Duration?

    /// Reads the rest of the command line.
    init(_ invocation: Invocation, _ registry: Registry) throws(UsageError) {
        file = ConfigurationFile.find(invocation[.config], registry)
        let text = invocation.operands[0]
        let names = text.hasPrefix("/") ? text.dropFirst() : text[...]
        let parts = names.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let isPath = names.utf8.allSatisfy { 0x21...0x7e ~= $0 && !"?#%".utf8.contains($0) }
        guard parts.count == 2, !parts.contains(""), isPath else {
            let advice = "write pkg.Service/Method, for example shop.v1.OrderService/Get"
            throw invocation.error("\(Diagnostic.quote(text)) is not a method; \(advice)")
        }
        (service, method) = (parts[0], parts[1])
        spoken = invocation[.callProtocol].flatMap(Spoken.init) ?? .connect
        headers = try Self.headers(invocation)
        sources = invocation.values(of: .data).map(CallMessages.Source.init)
        fields = try CallFields(Array(invocation.operands.dropFirst()), invocation)
        if !fields.isEmpty, !sources.isEmpty {
            throw invocation.error("-d and fields are both the message; write one of them")
        }
        timeout = try invocation.time(.timeout, default: "10s")
    }

    private static func headers(_ invocation: Invocation) throws(UsageError) -> [(name: String, value: String)] {
        let own = ["content-type", "content-length", "transfer-encoding", "connection", "te"]
        var headers: [(name: String, value: String)] = []
        for text in invocation.values(of: .header) {
            guard let header = Explain.header(text) else {
                throw invocation.error("\(Diagnostic.quote(text)) is not a valid header; write 'name: value'")
            }
            guard !own.contains(header.name) else {
                throw invocation.error("the call itself sets the header \(header.name); leave it out")
            }
            headers.append(header)
        }
        return headers
    }

    func run() -> Exit {
        let loaded: ConfigurationFile.Loaded
        do throws(ConfigurationFile.Rejection) {
            loaded = try file.load()
        } catch {
            error.lines.forEach(Terminal.complain)
            return .configuration
        }
        do throws(CallError) {
            return try call(loaded.plan)
        } catch {
            Terminal.complain("martlet: \(error.text)")
            return error.exit
        }
    }

    private func call(_ plan: Plan) throws(CallError) -> Exit {
        let path = Array("/\(service)/\(method)".utf8)
        let known = try types(plan)
        let type = known?.set.method(path: path.span)
        if type == nil, let types = known?.set { try checkNames(types) }
        if spoken != .connect, type == nil {
            let problem = "\(file.name) has no types of \(service)/\(method), which \(spoken.rawValue) needs"
            throw CallError("\(problem); add them to types.files, or use --protocol connect")
        }
        let messages =
            fields.isEmpty
            ? try CallMessages.read(sources, isStream: type?.requestStreams) : [try fields.message(type?.request)]
        if let type, !type.requestStreams, messages.count != 1 {
            throw CallError("\(method) needs one message, not \(messages.count)", .usage)
        }
        var request = RPCRequest(
            protocolOfCall(type, messages.count),
            spoken == .connect ? .json : .proto,
            path: path,
            authority: headers.last { $0.name == "host" }.map { Array($0.value.utf8) },
            headers: headers.filter { $0.name != "host" },
            messages: messages,
            timeout: timeout
        )
        request.expectsOneMessage = type.map { !$0.responseStreams } ?? false
        if request.codec == .proto, let type, let known {
            request.messages = try CallMessages.encoded(messages, type.request, known)
        }
        let output = CallOutput(type, known, request.codec)
        var result = try make(request, plan.settings.listeners, output)
        // Only its types tell that a method has streams, or the server does.
        if case .response(415, _, _) = result, request.rpcProtocol == .connectUnary, type == nil {
            request.rpcProtocol = .connectStream
            result = try make(request, plan.settings.listeners, output)
        }
        return output.finish(result)
    }

    /// The types of the configuration; those of reflection are fetched.
    private func types(_ plan: Plan) throws(CallError) -> KnownTypes? {
        switch plan.fetchTypes() {
        case .success(let types): return types
        case .failure(let error):
            // Connect with JSON can do without.
            guard spoken != .connect else { return plan.types }
            throw CallError("no types from upstream \(plan.reflection?.upstream ?? ""): \(error.text)")
        }
    }

    private func protocolOfCall(_ type: MethodType?, _ messages: Int) -> RPCProtocol {
        switch spoken {
        case .grpc: .grpc
        case .grpcWeb: .grpcWeb
        case .connect: type?.streams ?? (messages != 1) ? .connectStream : .connectUnary
        }
    }

    /// Reports a name that is almost one that is known; others may be of services that the file has no types of.
    private func checkNames(_ types: TypeSet) throws(CallError) {
        guard let known = types.services.first(where: { $0.name == service }) else {
            guard let nearest = Suggestion.nearest(to: service, among: types.services.map(\.name)) else { return }
            throw CallError("no service is named \(Diagnostic.quote(service)); did you mean \(nearest)?", .usage)
        }
        let advice = Suggestion.text(for: method, among: known.methods.map(\.name))
        throw CallError("\(service) has no method \(Diagnostic.quote(method)); \(advice)", .usage)
    }

    /// Makes the call through the first listener that responds.
    private func make(
        _ request: RPCRequest,
        _ listeners: [ListenerSettings],
        _ output: CallOutput
    ) throws(CallError) -> RPCResult {
        let needsHTTP2 = request.rpcProtocol == .grpc
        let servers = listeners.compactMap { UpstreamSettings(calling: $0, needsHTTP2: needsHTTP2) }
        guard !servers.isEmpty else {
            let advice = "add a listener with a port or a Unix socket that asks for no client certificate"
            throw CallError("\(file.name) has no listener that a command can call; \(advice)", .configuration)
        }
        for server in servers {
            let server = FetchServer(server, into: Diagnostics())
            let result = request.send(to: server) { output.write($0) }
            if case .unreachable = result { continue }
            return result
        }
        let addresses = servers.map { "\($0.url)" }.joined(separator: " or ")
        throw CallError("no daemon is listening at \(addresses); is Martlet running?")
    }
}

/// Why a call cannot be made.
struct CallError: Error {
    /// What is wrong, and what would be right.
    let text: String
    /// How the program ends for it.
    let exit: Exit

    init(_ text: String, _ exit: Exit = .failure) {
        (self.text, self.exit) = (text, exit)
    }
}

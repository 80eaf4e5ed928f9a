internal import Bytes
internal import Configuration
internal import Documents
internal import Proxy
internal import Types

/// `martlet mocks init`: writes a mock with a rule for each method of a service, to be edited.
struct MocksCommand {
    private let file: ConfigurationFile
    private let service: String

    /// Reads the rest of the command line.
    init(_ invocation: Invocation, _ registry: Registry) throws(UsageError) {
        file = ConfigurationFile.find(invocation[.config], registry)
        guard invocation.operands[0] == "init" else {
            throw UsageError("unknown action", invocation.operands[0], among: ["init"])
        }
        service = invocation.operands[1]
    }

    func run() -> Exit {
        let types: TypeSet
        do throws(ConfigurationFile.Rejection) {
            guard let known = try TypesCommand.types(of: file) else { return .configuration }
            types = known.set
        } catch {
            error.lines.forEach(Terminal.complain)
            return .configuration
        }
        let names = types.services.map(\.name)
        guard let found = types.services.first(where: { $0.name == service || $0.name.hasSuffix(".\(service)") }) else {
            let advice = Suggestion.text(for: service, among: names)
            Terminal.complain("martlet: no service is named \(Diagnostic.quote(service)); \(advice)")
            return .failure
        }
        Self.lines(found).forEach(Terminal.print)
        return .success
    }

    private static func lines(_ service: ServiceType) -> [String] {
        let last = service.name.split(separator: ".").last.map(String.init) ?? service.name
        let name = last.hasSuffix("Service") && last.count > 7 ? String(last.dropLast(7)) : last
        return ["mocks:", "  \(name.lowercased()):", "    service: \(service.name)", "    methods:"]
            + service.methods.flatMap(lines)
    }

    /// A method with a rule that responds with a message of its type.
    private static func lines(_ method: MethodType) -> [String] {
        let request = (method.requestStreams ? "stream " : "") + method.request.name
        let response = (method.responseStreams ? "stream " : "") + method.response.name
        let queue = ByteQueue()
        FakeMessage { 0 }.append(method.response, to: queue)
        let yaml = ByteQueue()
        if let value = try? JSON.parse(queue.readable) { yaml.append(yaml: value) }
        let json = yaml.readable.string
        let rule =
            method.responseStreams
            ? ["        - outputs:", "            - send: { json: \(json) }"]
            : ["        - respond: { json: \(json) }"]
        return ["      # \(request) → \(response)", "      \(method.name):"] + rule
    }
}

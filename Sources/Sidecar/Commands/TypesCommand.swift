internal import Bytes
internal import Configuration
internal import Proxy
internal import Types

/// `martlet types`: says what the configuration knows of messages, and turns messages from one form into the other.
struct TypesCommand {
    /// What is to be done with the types.
    enum Action {
        case list
        /// From the wire format to JSON.
        case decode(String)
        /// From JSON to the wire format.
        case encode(String)
    }

    /// The largest message that is read, in bytes.
    private static let limit = 64 << 20

    private let file: ConfigurationFile
    private let action: Action

    /// Reads the rest of the command line.
    init(_ invocation: Invocation, _ registry: Registry) throws(UsageError) {
        file = ConfigurationFile.find(invocation[.config], registry)
        guard let verb = invocation.operands.first else {
            action = .list
            return
        }
        guard ["decode", "encode"].contains(verb) else {
            throw UsageError("unknown action", verb, among: ["decode", "encode"])
        }
        guard invocation.operands.count == 2 else {
            throw invocation.error("types \(verb) needs TYPE, for example martlet types \(verb) shop.v1.Order")
        }
        action = verb == "decode" ? .decode(invocation.operands[1]) : .encode(invocation.operands[1])
    }

    func run() -> Exit {
        do throws(ConfigurationFile.Rejection) {
            let loaded = try file.load()
            loaded.warnings.forEach(Terminal.complain)
            let (known, isWhole) = Self.known(loaded.plan)
            guard let types = known else {
                guard isWhole else { return .failure }
                Self.complainOfNoTypes(file)
                return .configuration
            }
            switch action {
            case .list:
                types.set.services.flatMap { Self.lines($0, types.restTable) }.forEach(Terminal.print)
                if loaded.plan.reflection != nil {
                    let diagnostics = Diagnostics()
                    loaded.plan.check(types.set, into: diagnostics)
                    diagnostics.warnings.map { $0.line(file: file.name) }.forEach(Terminal.complain)
                }
                MissingTypes(loaded.plan.settings, types.set).lines(file: file.name).forEach(Terminal.print)
                return isWhole ? .success : .failure
            case .decode(let name):
                return convert(name, types) { type, bytes, output throws(MessageError) in
                    let form = types.form
                    try MessageCodec().appendJSON(of: bytes, type, types.set, form, limit: Self.limit, to: output)
                    output.append("\n")
                }
            case .encode(let name):
                return convert(name, types) { type, text, output throws(MessageError) in
                    try MessageCodec().appendMessage(
                        ofJSON: text,
                        type,
                        types.set,
                        dropsUnknown: types.dropsUnknown,
                        limit: Self.limit,
                        to: output
                    )
                }
            }
        } catch {
            error.lines.forEach(Terminal.complain)
            return .configuration
        }
    }

    /// The types of a configuration; none if there are none, which is told.
    static func types(of file: ConfigurationFile) throws(ConfigurationFile.Rejection) -> KnownTypes? {
        let (types, isWhole) = known(try file.load().plan)
        if types == nil, isWhole { complainOfNoTypes(file) }
        return types
    }

    private static func complainOfNoTypes(_ file: ConfigurationFile) {
        let tool = "protoc --include_imports --descriptor_set_out"
        let other = "types: { reflection: NAME }"
        let advice = "write types: { files: [...] } with files that \(tool) makes, or \(other)"
        Terminal.complain("\(file.name): there are no types; \(advice)")
    }

    /// The types of the configuration, and whether they are all; those of reflection are fetched.
    private static func known(_ plan: Plan) -> (types: KnownTypes?, isWhole: Bool) {
        switch plan.fetchTypes() {
        case .success(let types): return (types, true)
        case .failure(let error):
            Terminal.complain("martlet: no types from upstream \(plan.reflection?.upstream ?? ""): \(error.text)")
            return (plan.settings.types.files.isEmpty ? nil : plan.types, false)
        }
    }

    /// The lines about a service: its name, and each method with its types, and the paths by which callers may use it.
    private static func lines(_ service: ServiceType, _ rest: RESTTable?) -> [String] {
        let width = service.methods.map(\.name.count).max() ?? 0
        return [service.name]
            + service.methods.flatMap { method in
                let name = method.name + String(repeating: " ", count: width - method.name.count)
                let request = (method.requestStreams ? "stream " : "") + method.request.name
                let response = (method.responseStreams ? "stream " : "") + method.response.name
                let paths = rest?.bindings.filter { $0.method.path == method.path } ?? []
                return ["  \(name)  \(request) → \(response)"] + paths.map { "    \($0.text)" }
            }
    }

    /// What a name that is unknown may have been meant to be: a full name, or the end of one.
    private static func suggestion(_ name: String, _ types: TypeSet) -> String? {
        let names = types.messageNames
        let last = name.split(separator: ".").last.map(String.init) ?? name
        let nearest =
            names.first { $0.hasSuffix("." + name) } ?? Suggestion.nearest(to: name, among: names)
            ?? names.first { $0.hasSuffix("." + last) }
        return nearest.map { "did you mean \($0)?" }
    }

    /// Reads a message from standard input and writes it to standard output in the other form.
    private func convert(
        _ name: String,
        _ types: KnownTypes,
        _ body: (MessageType, Span<UInt8>, ByteQueue) throws(MessageError) -> Void
    ) -> Exit {
        guard let type = types.set.message(named: name) else {
            let advice = Self.suggestion(name, types.set) ?? "martlet types lists those of services"
            Terminal.complain("martlet: no type is named \(Diagnostic.quote(name)); \(advice)")
            return .failure
        }
        guard let input = Terminal.read(limit: Self.limit) else {
            Terminal.complain("martlet: the message on standard input exceeds \(ByteCount.text(Self.limit))")
            return .failure
        }
        let output = ByteQueue()
        do throws(MessageError) {
            try body(type, input.span, output)
        } catch {
            Terminal.complain("martlet: \(error)")
            return .failure
        }
        Terminal.write(output.readable.array)
        return .success
    }
}

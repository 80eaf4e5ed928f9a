internal import Configuration
internal import Documents
internal import Interceptors
internal import Proxy
internal import Time
internal import Types

/// A file of tests, and the configuration that it is about.
struct TestFile {
    /// One call and what is expected of it.
    struct Step {
        let after: Duration
        let call: TestCall
        let check: TestCheck
    }

    struct Test {
        let name: String
        let mark: Mark
        let givens: RehearsalGivens
        let steps: [Step]
    }

    let path: String
    let loaded: ConfigurationFile.Loaded
    let names: TestNames
    private(set) var tests: [Test] = []
    /// What may be wrong with it.
    private(set) var warnings: [String] = []

    /// Reads the file at `path` and its configuration.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - named: the configuration in place of the one that the file names.
    ///   - registry: the kinds of interceptors.
    /// - Throws: what is wrong with one of the files.
    init(_ path: String, configuration named: String?, _ registry: Registry) throws(ConfigurationFile.Rejection) {
        self.path = path
        let diagnostics = Diagnostics()
        guard let root = try ConfigurationFile.parse(path, into: diagnostics) else {
            if diagnostics.isEmpty { diagnostics.report("the file has no tests", at: .start) }
            throw ConfigurationFile.Rejection(lines: diagnostics.lines(file: path))
        }
        let section = Section(root, TestOptions.file, into: diagnostics)
        guard let configuration = named ?? section.string(ifGiven: "config").map({ Self.path($0, beside: path) }) else {
            diagnostics.report("\"config\" is missing; add for example config: ../martlet.yaml", at: root.mark)
            throw ConfigurationFile.Rejection(lines: diagnostics.lines(file: path))
        }
        let file = ConfigurationFile(path: configuration, registry: registry)
        loaded = try file.load()
        names = TestNames(loaded.plan.settings)
        let shared = section.section("given")
        for test in section.sections("tests") {
            let own = test.section("given")
            var givens = RehearsalGivens()
            TestGivens(loaded.plan, diagnostics).add([shared, own], to: &givens)
            let steps = test.has("steps") ? test.sections("steps") : [test]
            if test.has("steps"), test.has("call") { test.reportConflict("steps", "call") }
            tests.append(
                Test(
                    name: test.string("name"),
                    mark: test.mark,
                    givens: givens,
                    steps: steps.map { step in
                        Step(
                            after: step.duration("after") ?? .zero,
                            call: TestCall(step.section("call"), loaded.plan.settings.listeners),
                            check: TestCheck(step.section("expect"))
                        )
                    }
                )
            )
        }
        warnings = diagnostics.warnings.map { $0.line(file: path) }
        guard diagnostics.isEmpty else { throw ConfigurationFile.Rejection(lines: diagnostics.lines(file: path)) }
    }

    /// A path as seen from the directory of another file.
    private static func path(_ path: String, beside file: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return file[...slash] + path
    }
}

/// The names and numbers of routes.
struct TestNames {
    private let routes: [String?]
    private let chains: [String]

    init(_ settings: Settings) {
        routes = settings.routes.map { $0.name?.text }
        chains = settings.routes.map { $0.chain ?? "interceptors" }
    }

    /// The chain of a call; none if no route is for it.
    func chain(of call: RehearsedCall) -> String? {
        guard let route = call.record["route"] else { return nil }
        let number = route.integer ?? route.string.flatMap { name in routes.firstIndex { $0 == name } }
        return number.flatMap { chains.indices.contains($0) ? chains[$0] : nil }
    }

    /// How the route of a call may be called.
    func route(of call: RehearsedCall) -> [String] {
        guard let route = call.record["route"] else { return [] }
        if let name = route.string {
            return [name] + (routes.firstIndex(of: name).map { ["\($0)"] } ?? [])
        }
        guard let number = route.integer, routes.indices.contains(number) else { return [] }
        return [routes[number] ?? "\(number)", "\(number)"]
    }
}

/// Reads what is given to tests.
private struct TestGivens {
    private let settings: Settings
    /// The names of interceptors that have tokens.
    private let tokenNames: [String]
    private let types: TypeSet?
    private let diagnostics: Diagnostics

    init(_ plan: Plan, _ diagnostics: Diagnostics) {
        types = plan.types?.set
        (settings, tokenNames, self.diagnostics) = (plan.settings, plan.credentials.map(\.name), diagnostics)
    }

    /// Adds what sections give, the later ones in place of the earlier.
    func add(_ sections: [Section], to givens: inout RehearsalGivens) {
        for section in sections {
            for entry in section.node("tokens")?.entries ?? [] {
                if !tokenNames.contains(entry.key) {
                    let advice = Suggestion.text(for: entry.key, among: tokenNames)
                    let problem = "no interceptor with a token is named \(Diagnostic.quote(entry.key))"
                    diagnostics.report("\(problem); \(advice)", at: entry.keyMark)
                }
                givens.tokens[entry.key] = tokens(entry.value)
            }
            for entry in section.node("upstreams")?.entries ?? [] { addUpstream(entry, to: &givens) }
            for entry in section.node("calls")?.entries ?? [] { addCall(entry, to: &givens) }
            if section.has("time") {
                guard let time = RFC3339.wallTime(section.string("time")) else {
                    let problem = "\"time\" cannot be \(Diagnostic.quote(section.string("time")))"
                    section.report("\(problem); write for example 2026-01-01T00:00:00Z", at: "time")
                    continue
                }
                givens.time = time
            }
            if section.has("seed") { givens.seed = UInt64(section.integer("seed")) }
        }
    }

    private func tokens(_ node: Node) -> [RehearsalGivens.Token] {
        let items: [Node] = if case .sequence(let items) = node.content { items } else { [node] }
        return items.map { item in
            let section = Section(item, TestOptions.token, into: diagnostics)
            return RehearsalGivens.Token(
                value: Array(section.string("value").utf8),
                lifetime: section.has("lifetime") ? section.duration("lifetime") : nil,
                error: section.string(ifGiven: "error")
            )
        }
    }

    private func addUpstream(_ entry: Node.Entry, to givens: inout RehearsalGivens) {
        let known = settings.upstreams.map(\.name)
        guard known.contains(entry.key) else {
            let advice = Suggestion.text(for: entry.key, among: known)
            return diagnostics.report(
                "no upstream is named \(Diagnostic.quote(entry.key)); \(advice)",
                at: entry.keyMark
            )
        }
        let section = Section(entry.value, TestOptions.upstream, into: diagnostics)
        guard let node = section.node("mock") else {
            return section.report("there is no mock; add \"mock\"", at: "mock")
        }
        var mock = MockSettings(Node.Entry(key: entry.key, keyMark: entry.keyMark, value: node), into: diagnostics)
        if case .scalar(let name, _) = node.content {
            guard let named = settings.mocks.first(where: { $0.name == name }) else {
                let advice = Suggestion.text(for: name, among: settings.mocks.map(\.name))
                return diagnostics.report("no mock is named \(Diagnostic.quote(name)); \(advice)", at: node.mark)
            }
            mock = named
        }
        let check = types.map { TypeCheck($0, into: diagnostics) }
        givens.upstreams[entry.key] = GivenMock.opening(of: mock, checkedBy: check, into: diagnostics)
    }

    private func addCall(_ entry: Node.Entry, to givens: inout RehearsalGivens) {
        let known = settings.calls.map(\.name)
        if !known.contains(entry.key) {
            let advice = Suggestion.text(for: entry.key, among: known)
            diagnostics.report("no call is named \(Diagnostic.quote(entry.key)); \(advice)", at: entry.keyMark)
        }
        let section = Section(entry.value, TestOptions.response, into: diagnostics)
        givens.calls[entry.key] = RehearsalGivens.Response(
            status: section.integer("status"),
            headers: section.map("headers").map { ($0.name, $0.text) },
            body: Array(section.string("body").utf8)
        )
    }
}

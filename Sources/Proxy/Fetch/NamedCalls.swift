public import Configuration

/// The named calls of a configuration, compiled, each with the server that it goes to.
public struct NamedCalls: Sendable {
    /// One of them.
    public struct Entry: Sendable {
        /// What is sent.
        public let call: NamedCall
        /// Where it goes.
        public let server: FetchServer
    }

    private var entries: [String: Entry] = [:]

    /// None.
    init() {}

    /// Compiles those of a configuration; what is wrong with them is reported.
    init(_ settings: Settings, _ acquired: Acquired, into diagnostics: Diagnostics) {
        for call in settings.calls {
            let named = NamedCall(call, into: diagnostics)
            guard let server = call.server else { continue }
            entries[call.name] = Entry(call: named, server: acquired.server(server, into: diagnostics))
        }
    }

    /// What the configuration says of them, in the order of their names.
    public var settings: [CallSettings] { entries.values.map(\.call.settings).sorted { $0.name < $1.name } }

    /// The call of a name; none if there is no such call.
    public func call(named name: String) -> NamedCall? { entries[name]?.call }

    /// The call that a section names by `key`; none if there is no such call, which is reported.
    ///
    /// - Parameters:
    ///   - section: the section.
    ///   - key: the option with the name.
    ///   - givesArguments: whether the call will be made with values for its parameters; without, none may be required.
    /// - Returns: the call.
    public func entry(_ section: Section, _ key: String, givesArguments: Bool = false) -> Entry? {
        guard let name = section.string(ifGiven: key) else { return nil }
        if let entry = entries[name] {
            if !givesArguments, let parameter = entry.call.parameters.required.first {
                let problem =
                    "nothing gives the call \(Diagnostic.quote(name)) its parameter \(Diagnostic.quote(parameter))"
                section.report("\(problem); add \"default\" to the parameter", at: key)
            }
            return entry
        }
        let suggestion = Suggestion.text(for: name, among: entries.keys.sorted())
        section.report("unknown call \(Diagnostic.quote(name)); \(suggestion)", at: key)
        return nil
    }

    /// Reports files that calls name and that cannot be read.
    func checkFiles(into diagnostics: Diagnostics) {
        for entry in entries.values { entry.call.checkFiles(into: diagnostics) }
    }
}

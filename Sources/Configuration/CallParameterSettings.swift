/// A value that a named call gets from whoever has it made.
public struct CallParameterSettings: Equatable, Sendable {
    /// The name, which stands in braces where the value goes.
    public let name: String
    /// Whether nothing is sent without a value.
    public let isRequired: Bool
    /// The value, a scalar, if none is given.
    public let fallback: Node?
    /// The values that are allowed; empty allows all.
    public let choices: [String]
    /// Where the name stands.
    @NotCompared public private(set) var mark: Mark

    static let options = [
        Option(
            "required",
            .bool,
            default: "false",
            "Rejects requests without a value, with invalid_argument. By default Martlet leaves out what needs the value."
        ),
        Option(
            "default",
            .node,
            shape: .value(.string),
            example: "\"false\"",
            "The value if the request has none."
        ),
        Option("one_of", .strings, example: "[asc, desc]", "The values that are allowed. The default is any value."),
    ]

    /// Reads a parameter, and reports what is wrong with it.
    init(_ named: NamedSection) {
        let section = named.section
        (name, mark) = (named.name, named.mark)
        isRequired = section.bool("required")
        choices = section.strings("one_of")
        section.reportIfEmpty("one_of", write: "a value such as asc")
        if let node = section.node("default"), node.text == nil {
            section.report("\"default\" cannot be \(node.shape); write a single value, such as \"\"", at: "default")
            fallback = nil
        } else {
            fallback = section.node("default")
        }
        Self.check(name, at: mark, into: section.diagnostics)
        guard let text = fallback?.text else { return }
        if isRequired { section.reportConflict("required", "default") }
        if !choices.isEmpty, !choices.contains(text) {
            let advice = Suggestion.text(for: text, among: choices)
            section.report("\"default\" is none of the values in \"one_of\"; \(advice)", at: "default")
        }
    }

    /// The parameters of a section in the order of the file; two that requests could not tell apart are reported.
    static func all(_ section: Section) -> [CallParameterSettings] {
        let all = section.named("parameters").map(CallParameterSettings.init)
        for (index, parameter) in all.enumerated() {
            guard let other = all[..<index].first(where: { $0.key == parameter.key }) else { continue }
            let problem =
                "\(Diagnostic.quote(parameter.name)) and \(Diagnostic.quote(other.name)) are one name to requests"
            section.diagnostics.report("\(problem); remove one of them", at: parameter.mark)
        }
        return all
    }

    /// The name as ProtoJSON writes it, such as `includeAdult` for `include_adult`.
    ///
    /// Requests may use either.
    public var key: String { Self.key(of: name) }

    /// The same of any name.
    public static func key(of name: String) -> String {
        var (key, isBehind) = ("", false)
        for scalar in name.unicodeScalars {
            let isCapital = isBehind && "a"..."z" ~= scalar
            isBehind = scalar == "_"
            guard !isBehind else { continue }
            key.unicodeScalars.append(isCapital ? Unicode.Scalar(UInt8(scalar.value) - 32) : scalar)
        }
        return key
    }

    private static func check(_ name: String, at mark: Mark, into diagnostics: Diagnostics) {
        let isGood = name.utf8.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): index > 0
            default: false
            }
        }
        guard !isGood || !(1...64 ~= name.utf8.count) else { return }
        let rule = "use at most 64 letters, digits, \"-\" and \"_\", and begin with a letter"
        diagnostics.report("\(Diagnostic.quote(name)) is not a valid name of a parameter; \(rule)", at: mark)
    }
}

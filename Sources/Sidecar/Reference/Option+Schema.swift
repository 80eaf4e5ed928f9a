internal import Configuration
internal import Documents

extension Option {
    /// The JSON Schema of the option's values.
    var schema: Node {
        var schema: Node = ["description": .string(documentation)]
        if let fallback { schema = schema + ["default": isText ? .string(fallback) : .plain(fallback, at: .start)] }
        if let example { schema = schema + ["examples": [Self.value(example)]] }
        // Counts for lists only.
        if needsItems { schema = schema + ["minItems": 1] }
        return schema + shape.schema
    }

    private var isText: Bool {
        switch kind {
        case .string, .strings, .choice, .choices: true
        default: false
        }
    }

    /// What `text` means where it stands in the file.
    private static func value(_ text: String) -> Node {
        YAML.parse(Array(text.utf8), into: Diagnostics()) ?? .string(text)
    }
}

extension Option.Shape {
    fileprivate var schema: Node {
        switch self {
        case .anything: [:]
        case .value(let kind): kind.schema
        case .chain: ["type": ["array", "null"], "items": ["$ref": "#/$defs/interceptor"]]
        case .named(let shape): ["type": ["object", "null"], "additionalProperties": shape.schema]
        case .either(let shapes): ["anyOf": .list(shapes.map(\.schema))]
        }
    }
}

extension Option.Kind {
    fileprivate var schema: Node {
        switch self {
        case .string: Self.scalar
        case .bool: ["type": ["boolean", "string"], "pattern": "^(true|false)$"]
        case .duration: ["type": "string", "pattern": "^(none|[0-9]+(us|ms|s|m|h))$"]
        case .timeout: ["type": "string", "pattern": "^(none|0*[1-9][0-9]*(us|ms|s|m|h))$"]
        case .size(let range): Self.number(in: range, "[0-9]+(B|KiB|MiB|GiB)?")
        case .sizeLimit(let range): Self.number(in: range, "none|[0-9]+(B|KiB|MiB|GiB)?")
        case .integer(let range): Self.number(in: range)
        case .integerOrAuto(let range): Self.number(in: range, "auto|[+-]?[0-9]+")
        case .choice(let words): ["enum": .list(words.flatMap(Self.spellings))]
        case .choices(let words): Self.oneOrMore(["enum": .list(words.flatMap(Self.spellings))])
        case .strings: Self.oneOrMore(Self.scalar)
        case .integers(let range): Self.oneOrMore(Self.number(in: range))
        case .map: ["type": ["object", "null"], "additionalProperties": Self.scalar]
        case .section(let options, let shorthand): Self.section(options, shorthand)
        case .sections(let options, let shorthand): ["type": "array", "items": Self.section(options, shorthand)]
        case .named(let options, let shorthand):
            ["type": "object", "additionalProperties": Self.section(options, shorthand)]
        case .node: [:]
        }
    }

    /// Any scalar: unquoted, text may look like a number.
    private static let scalar: Node = ["type": ["string", "number", "boolean"]]

    /// A whole number, or text, since a number in quotes is good as well: the bounds are for numbers, the pattern for text.
    private static func number(in range: ClosedRange<Int>, _ pattern: String = "[+-]?[0-9]+") -> Node {
        let schema: Node = ["type": ["integer", "string"], "minimum": .integer(range.lowerBound)]
        let bound: Node = range.upperBound == .max ? [:] : ["maximum": .integer(range.upperBound)]
        return schema + bound + ["pattern": .string("^(\(pattern))$")]
    }

    /// The word as text and, where it looks like one, as the number that it is without quotes.
    private static func spellings(of word: String) -> [Node] {
        Double(word) == nil ? [.string(word)] : [.string(word), .plain(word, at: .start)]
    }

    private static func oneOrMore(_ one: Node) -> Node {
        ["anyOf": [one, ["type": "array", "items": one]]]
    }

    private static func section(_ options: [Option], _ shorthand: String?) -> Node {
        let object = JSONSchema.object(options)
        guard let option = options.first(where: { $0.key == shorthand }) else { return object }
        return ["anyOf": [option.schema, object]]
    }
}

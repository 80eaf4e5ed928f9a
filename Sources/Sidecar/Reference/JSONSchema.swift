internal import Configuration
internal import Proxy

/// The JSON Schema (draft 2020-12) of the configuration file, for editors.
///
/// It takes every file that `martlet check` takes, and rejects most of the others. What no table says, such as which
/// names are there to be referred to, only the check knows.
enum JSONSchema {
    /// The schema of a file that may name the kinds of `registry`.
    static func document(for registry: Registry) -> Node {
        ["$schema": "https://json-schema.org/draft/2020-12/schema", "title": "The configuration of Martlet"]
            + object(Settings.options) + ["$defs": ["interceptor": interceptor(registry)]]
    }

    /// An item of a chain: a mapping, or no more than the name of a kind that can do without options.
    private static func interceptor(_ registry: Registry) -> Node {
        let bare = registry.kinds.filter { !$0.options.needsValue }.map { Node.string($0.name) }
        return ["anyOf": [["enum": .list(bare)], object(ChainEntry.include), object(registry.itemOptions)]]
    }

    /// A mapping that is read by a table.
    static func object(_ options: [Option]) -> Node {
        var schema: Node = [
            "type": options.needsValue ? "object" : ["object", "null"],
            "properties": .object(options.map { ($0.key, $0.schema) }),
            "additionalProperties": false,
        ]
        let required = options.filter(\.isRequired)
        if !required.isEmpty { schema = schema + ["required": keys(required)] }
        let groups = options.groups
        if !groups.isEmpty { schema = schema + ["allOf": .list(groups.map(exactlyOne))] }
        return schema
    }

    private static func exactlyOne(of group: [Option]) -> Node {
        ["oneOf": .list(group.map { ["required": keys([$0])] })]
    }

    private static func keys(_ options: [Option]) -> Node {
        .list(options.map { .string($0.key) })
    }
}

extension [Option] {
    /// Whether a mapping without any key would be rejected.
    fileprivate var needsValue: Bool {
        contains { $0.isRequired || $0.group != nil }
    }
}

import Configuration
import Documents
import Interceptors
import Proxy
import Testing

@testable import Sidecar

/// The JSON Schema, beyond what tests of the binary tell.
struct JSONSchemaTests {
    private let document = JSONSchema.document(for: Registry.builtIn.adding([Kinds.greeting, Kinds.source]))

    /// The schema of an item of a chain, at `path`.
    private func interceptor(_ path: String...) throws -> String {
        let item = try #require(document["$defs"]?["interceptor"]?["anyOf"])
        guard case .sequence(let alternatives) = item.content else { throw Missing() }
        let node = path.reduce(alternatives.last) { $0?[$1] }
        return String(decoding: try #require(node).json, as: UTF8.self)
    }

    private struct Missing: Error {}

    @Test func `a kind of a program's own is a key like any other`() throws {
        #expect(try interceptor("properties", "greeting", "properties", "words", "enum") == #"["hello","1.5",1.5]"#)
        #expect(try interceptor("allOf").contains(#"{"required":["metrics"]}"#))
        #expect(try interceptor("allOf").contains(#"{"required":["source"]}"#))
    }

    @Test func `only a kind that needs no options can stand alone`() throws {
        let item = try #require(document["$defs"]?["interceptor"]?["anyOf"])
        guard case .sequence(let alternatives) = item.content else { throw Missing() }
        let bare = try #require(alternatives.first?["enum"])
        guard case .sequence(let kinds) = bare.content else { throw Missing() }
        #expect(Set(kinds.compactMap(\.text)).isSuperset(of: ["metrics", "log", "greeting"]))
        #expect(Set(kinds.compactMap(\.text)).isDisjoint(with: ["token", "reject", "message", "source"]))
    }

    @Test func `exactly one of a group must be given`() throws {
        let groups = try interceptor("properties", "source", "allOf")
        #expect(groups == #"[{"oneOf":[{"required":["file"]},{"required":["most"]}]}]"#)
    }

    @Test func `an option says its meaning, default and example, and then its type`() throws {
        #expect(
            try interceptor("properties", "source", "properties", "file")
                == #"{"description":"A file.","examples":["007"],"type":["string","number","boolean"]}"#
        )
        #expect(
            try interceptor("properties", "source", "properties", "most")
                == #"{"description":"A size.","type":["integer","string"],"minimum":1024,"maximum":1048576,"#
                + #""pattern":"^([0-9]+(B|KiB|MiB|GiB)?)$"}"#
        )
    }

    @Test func `a shape stands for what only the reader of the option knows`() throws {
        #expect(
            try interceptor("properties", "greeting", "properties", "to", "anyOf")
                == #"[{"type":["boolean","string"],"pattern":"^(true|false)$"},"#
                + #"{"type":"object","properties":{"city":{"description":"The city.","type":["string","number","boolean"]}},"#
                + #""additionalProperties":false,"required":["city"]}]"#
        )
    }
}

import Configuration
import Interceptors
import Proxy
import Testing

@testable import Sidecar

/// The reference page of a program with kinds of its own.
struct ReferencePageTests {
    private let lines = ReferencePage(for: Registry.builtIn.adding([Kinds.greeting, Kinds.source])).text
        .split(separator: "\n", omittingEmptySubsequences: false)

    /// The lines below a heading.
    private func section(_ heading: String) throws -> [Substring] {
        let start = try #require(lines.firstIndex(of: "### `\(heading)`")) + 2
        let section = lines[start...].prefix { !$0.hasPrefix("#") }
        return section.last == "" ? Array(section.dropLast()) : Array(section)
    }

    @Test func `a kind has its summary, its facts and its options`() throws {
        #expect(
            try section("greeting") == [
                "Greets. It runs once for each call.",
                "",
                "| option | type | default | meaning |",
                "|---|---|---|---|",
                #"| `words` | `hello`, `1.5` | `hello` | What is said: hello\|1.5. |"#,
                "| `to` | `true` or `false`, or [mapping](#greetingto) |  | Whom it is said to. |",
                "| `from` | [mapping](#greetingto) |  | Who says it. |",
            ]
        )
        #expect(
            try section("source") == [
                "Takes from somewhere. It runs for each attempt of a call.",
                "",
                "| option | type | default | meaning |",
                "|---|---|---|---|",
                #"| `file` | string | one of `file`, `most` | A file. Example: `"007"` |"#,
                "| `most` | size from 1KiB to 1MiB | one of `file`, `most` | A size. |",
            ]
        )
    }

    @Test func `a table that two options have stands on the page once`() throws {
        #expect(try section("greeting.to").last == "| `city` | string | required | The city. |")
        #expect(!lines.contains("### `greeting.from`"))
    }

    @Test func `every link leads to a heading`() {
        let anchors = Set(
            lines.filter { $0.hasPrefix("#") }.map { heading in
                String(heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "_" })
            }
        )
        let links = lines.flatMap { $0.split(separator: "](#").dropFirst().map { String($0.prefix { $0 != ")" }) } }
        #expect(links.count > 20)
        #expect(links.filter { !anchors.contains($0) } == [])
    }
}

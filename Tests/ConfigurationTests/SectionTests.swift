import Configuration
import Documents
import Testing
import Time

/// What a table of options makes of a mapping.
struct SectionTests {
    private static let table = [
        Option("file", .string, oneOf: "source", example: "/run/secrets/token", "Where the token is."),
        Option("env", .string, oneOf: "source", "The variable that holds the token."),
        Option("header", .string, default: "authorization", "The header."),
        Option("clear", .bool, default: "false", "Whether clear text will do."),
        Option("wait", .duration, default: "5s", "How long to wait."),
        Option("limit", .timeout, "How long it may take."),
        Option("most", .size(in: 1024...Int.max), default: "64KiB", "The most bytes."),
        Option("cap", .sizeLimit(in: 1...4096), default: "1KiB", "The most bytes, or no limit."),
        Option("count", .integer(in: 1...10), default: "3", "How many."),
        Option("workers", .integerOrAuto(in: 1...4), default: "auto", "How many threads."),
        Option("code", .choice(["not_found", "unavailable"]), required: true, "The code."),
        Option("remove", .strings, "Names."),
        Option("ids", .integers(in: 0...9), "Numbers."),
        Option("set", .map, "Names with values."),
        Option("on", .section([Option("deep", .bool, default: "true", "Whether.")]), "More."),
        Option("steps", .sections([Option("to", .string, required: true, "Where.")], shorthand: "to"), "Steps."),
        Option("named", .named([Option("url", .string, "Where.")], shorthand: "url"), "Things by name."),
        Option("any", .node, "Anything."),
    ]

    private func read(_ yaml: String) -> (section: Section, errors: [String]) {
        let diagnostics = Diagnostics()
        let node = YAML.parse(Array(yaml.utf8), into: diagnostics) ?? Node(.null, at: .start)
        let section = Section(node, Self.table, into: diagnostics)
        return (section, diagnostics.sorted.map { "\($0.mark.line):\($0.mark.column): \($0.message)" })
    }

    @Test func `values that are not given are the defaults of the table`() {
        let (section, errors) = read("{file: a, code: not_found}")
        #expect(errors == [])
        #expect(section.string("header") == "authorization")
        #expect(section.bool("clear") == false)
        #expect(section.duration("wait") == .seconds(5))
        #expect(section.duration("limit") == nil)
        #expect(section.size("most") == 65536)
        #expect(section.sizeLimit("cap") == 1024)
        #expect(section.integer("count") == 3)
        #expect(section.integer(ifGiven: "workers") == nil)
        #expect(section.string(ifGiven: "env") == nil)
        #expect(section.strings("remove") == [])
        #expect(section.map("set") == [])
        #expect(section.section("on").bool("deep"))
        #expect(!section.has("on"))
        #expect(section.sections("steps").isEmpty)
        #expect(section.node("any") == nil)
    }

    @Test func `each type of value is read`() {
        let (section, errors) = read(
            """
            { env: E, header: 42, clear: true, wait: none, limit: 1m, most: 2000, cap: none, count: 10, workers: 2, code: unavailable,
              remove: [a, b], ids: 7, set: { x: "1", "y": z }, on: { deep: false }, steps: [p, { to: q }],
              named: { n: u, m: { url: v } }, any: [1] }
            """
        )
        #expect(errors == [])
        #expect(section.string("env") == "E")
        #expect(section.string("header") == "42")
        #expect(section.bool("clear"))
        #expect(section.duration("wait") == nil)
        #expect(section.duration("limit") == .seconds(60))
        #expect(section.size("most") == 2000)
        #expect(section.sizeLimit("cap") == nil)
        #expect(section.integer("count") == 10)
        #expect(section.integer(ifGiven: "workers") == 2)
        #expect(section.string("code") == "unavailable")
        #expect(section.strings("remove") == ["a", "b"])
        #expect(section.markedStrings("remove").map(\.mark) == [Mark(line: 2, column: 12), Mark(line: 2, column: 15)])
        #expect(section.integers("ids") == [7])
        #expect(section.map("set").map(\.name) == ["x", "y"])
        #expect(section.map("set").map(\.text) == ["1", "z"])
        #expect(section.section("on").bool("deep") == false)
        #expect(section.sections("steps").map { $0.string("to") } == ["p", "q"])
        #expect(section.named("named").map(\.name) == ["n", "m"])
        #expect(section.named("named").map { $0.section.string("url") } == ["u", "v"])
        #expect(section.mark(of: "env") == Mark(line: 1, column: 8))
        #expect(section.mark(of: "file") == section.mark)
    }

    @Test(arguments: [
        ("hedaer: a", "unknown key \"hedaer\"; did you mean \"header\"?", 1),
        ("header: [a]", "\"header\" cannot be a list; write a string, for example header: authorization", 9),
        ("header:", "\"header\" cannot be empty; write a string, for example header: authorization", 8),
        (
            "header: {a}",
            "\"header\" cannot be a mapping; write a string, for example header: authorization, in quotes if it starts with {",
            9
        ),
        ("clear: yes", "\"clear\" cannot be \"yes\"; write true or false", 8),
        ("wait: 5", "\"wait\" cannot be \"5\"; write a duration such as 250ms, 2s, 5m, 1h or none", 7),
        (
            "limit: 0s",
            "\"limit\" cannot be \"0s\"; write a duration longer than zero such as 250ms, 2s, 5m, 1h, or none", 8
        ),
        (
            "most: 64KB",
            "\"most\" cannot be \"64KB\"; write a size of at least 1024 bytes such as 512B, 64KiB, 4MiB or 1GiB", 7
        ),
        (
            "cap: 0",
            "\"cap\" cannot be \"0\"; write a size from 1 to 4096 bytes such as 512B, 64KiB, 4MiB, 1GiB, or none", 6
        ),
        (
            "most: none",
            "\"most\" cannot be \"none\"; write a size of at least 1024 bytes such as 512B, 64KiB, 4MiB or 1GiB", 7
        ),
        ("count: 11", "\"count\" cannot be \"11\"; write a whole number from 1 to 10", 8),
        ("count: 1.5", "\"count\" cannot be \"1.5\"; write a whole number from 1 to 10", 8),
        ("remove: {a: b}", "\"remove\" cannot be a mapping; write a string or a list of strings", 9),
        ("remove: [a, [b]]", "\"remove\" cannot be a list; write a string or a list of strings", 13),
        ("ids: [1, 10]", "\"ids\" cannot be \"10\"; write a whole number from 0 to 9, or a list of them", 10),
        ("set: a", "\"set\" cannot be a single value; write a mapping of names to strings", 6),
        ("set: { x: {env:X} }", "\"x\" cannot be a mapping; write a string, in quotes if it starts with {", 11),
        ("set: { x: }", "\"x\" cannot be empty; write a string, \"\" for an empty one", 11),
        ("on: a", "a mapping is required here, not a single value; its keys are deep", 5),
        ("on: { deeep: true }", "unknown key \"deeep\"; did you mean \"deep\"?", 7),
        ("steps: a", "\"steps\" cannot be a single value; write a list with each item on its own line after \"- \"", 8),
        ("steps: [{}]", "\"to\" is missing; add a string", 9),
        ("named: [a]", "\"named\" cannot be a list; write a mapping of names, each with a mapping below it", 8),
        ("env: b", "\"file\" and \"env\" cannot be set together; write exactly one of them", 1),
    ])
    func `a wrong value is reported with what would be right`(line: String, message: String, column: Int) {
        #expect(read("file: a\ncode: not_found\n\(line)\n").errors == ["3:\(column): \(message)"])
    }

    @Test func `what is missing is reported where the mapping starts`() {
        #expect(
            read("header: a\n").errors == [
                "1:1: \"code\" is missing; add one of not_found, unavailable",
                "1:1: \"file\" or \"env\" is missing; write exactly one of them",
            ]
        )
    }

    @Test func `a wrong value reads as the default`() {
        let section = read("{file: a, code: x, count: 0, header: [], on: 1}").section
        #expect(section.integer("count") == 3)
        #expect(section.string("header") == "authorization")
        #expect(section.string("code") == "")
        #expect(section.section("on").bool("deep"))
    }

    @Test func `a reader of a section reports errors of its own`() {
        let (section, _) = read("file: a\ncode: not_found")
        section.report("no such file", at: "file")
        #expect(section.diagnostics.sorted == [Diagnostic(mark: Mark(line: 1, column: 7), message: "no such file")])
    }
}

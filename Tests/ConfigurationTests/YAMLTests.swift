import Configuration
import Documents
import Testing

/// What YAML becomes, and what is said about bad YAML.
struct YAMLTests {
    @Test func `every value knows its place`() throws {
        let root = try #require(document("a: 1\nb:\n  - x\n  - { c: \"d\" }\n").node)
        let entries = try #require(root.entries)
        #expect(entries.map(\.key) == ["a", "b"])
        #expect(entries.map(\.keyMark) == [Mark(line: 1, column: 1), Mark(line: 2, column: 1)])
        #expect(root["a"]?.mark == Mark(line: 1, column: 4))
        guard case .sequence(let items)? = root["b"]?.content else { throw Missing() }
        #expect(items.map(\.mark) == [Mark(line: 3, column: 5), Mark(line: 4, column: 5)])
        #expect(items[1]["c"]?.mark == Mark(line: 4, column: 10))
        #expect(items[1]["c"]?.content == .scalar("d", quoted: true))
    }

    @Test func `columns count characters, and a byte order mark counts nothing`() {
        #expect(document("{ü: ä, b: c}").node?["b"]?.mark == Mark(line: 1, column: 11))
        #expect(document([0xef, 0xbb, 0xbf] + Array("a: b".utf8)).node?["a"]?.mark == Mark(line: 1, column: 4))
    }

    @Test(arguments: ["a:", "a: ~", "a: null", "a: !!null x", "{a: }"])
    func `nothing is null`(yaml: String) {
        #expect(document("a:").node?["a"]?.content == .null)
    }

    @Test(arguments: ["a: ''", "a: \"null\"", "a: !!str null", "a: |\n  null"])
    func `quoted text is never null`(yaml: String) {
        guard case .scalar(_, quoted: true)? = document(yaml).node?["a"]?.content else {
            Issue.record("\(yaml) is not quoted text")
            return
        }
    }

    @Test func `an alias stands for what its anchor marked`() {
        let (node, errors) = document("a: &x { b: [1, 2] }\nc: *x\n")
        #expect(errors == [])
        #expect(node?["c"] == node?["a"])
    }

    @Test(arguments: [
        ("a: [1", "2:1: the list is not closed; check \"[\", \",\" and \"]\" (inside what starts at line 1)"),
        (
            "a: {b: 1",
            "2:1: the mapping is not closed; check \"{\", \",\" and \"}\" (inside what starts at line 1)"
        ),
        ("a: \"b", "1:4: the quote is not closed; close it"),
        ("a:\n\tb: 1", "2:1: a tab cannot be used for indentation; use spaces"),
        ("a: @b", "1:4: a value cannot start with \"@\"; put it in quotes"),
        ("a: b: c", "1:5: a \":\" cannot stand here; check the indentation, or put text that has \": \" in quotes"),
        (
            "a: 1\n b: 2",
            "2:3: a \":\" cannot stand here; check the indentation, or put text that has \": \" in quotes"
        ),
        (
            "a:\n  b: 1\n c: 2",
            "3:2: unexpected text; check the indentation and the quotes, also on the lines before (inside what starts at line 1)"
        ),
        ("a: 1\nb\nc: 2", "3:1: the key has no \":\"; write key: value"),
        ("a: \"\\d\"", "1:5: the escape in double quotes is unknown; write \\\\ for a backslash, or use single quotes"),
        ("a: *b", "1:4: there is no anchor \"b\" before this alias; mark the value to repeat with &b"),
        ("a: &b [*b]", "1:8: there is no anchor \"b\" before this alias; mark the value to repeat with &b"),
        ("a: 1\n---\nb: 2", "2:1: a second document starts here; write only one document"),
        ("[a]: 1", "1:1: a key must be text; write text, in quotes if it starts with \"{\" or \"[\""),
        ("a: 1\nb: 2\na: 3", "3:1: the key \"a\" is already used on line 1; keep one of them"),
        ("a: !secret b", "1:4: the tag \"!secret\" is not supported; remove it"),
        ("a: !!set {b}", "1:4: the tag \"tag:yaml.org,2002:set\" is not supported; remove it"),
        ("a: &x {b: 1}\nc: { <<: *x }", "2:6: merge keys are not supported; write the keys in full"),
        ("a: \"b\\0c\"", "1:4: the text contains a NUL character; remove it"),
        ("a: [::1]:80", "1:5: a value cannot start with \":\"; put text such as \"[::1]:8080\" in quotes"),
    ])
    func `bad YAML is explained where it is bad`(yaml: String, error: String) {
        #expect(document(yaml + "\n").errors == [error])
    }

    @Test func `bytes that are not text are rejected where they are`() {
        let notUTF8 = "1:4: the file contains bytes that are not UTF-8; save it as UTF-8"
        #expect(document(Array("a: ".utf8) + [0xff]).errors == [notUTF8])
        #expect(document(Array("a: ".utf8) + [0xc0, 0xaf]).errors == [notUTF8])
        #expect(document(Array("a: ".utf8) + [0xe2, 0x82]).errors == [notUTF8])
        let control = "2:2: the file contains a control character; remove it, or write it as an escape in double quotes"
        #expect(document("ü:\nb\0").errors == [control])
        #expect(document("ü:\nb\u{7}").errors == [control])
    }

    @Test func `UTF-16 is rejected`() {
        #expect(
            document([0xff, 0xfe, 0x61, 0x00]).errors == [
                "1:1: the file contains bytes that are not UTF-8; save it as UTF-8"
            ]
        )
    }

    @Test(arguments: ["[", "{a: ", "- ", "? "])
    func `values nest 64 deep and no deeper`(opening: String) {
        let (node, errors) = document(String(repeating: opening, count: 100_000))
        #expect(node == nil)
        #expect(errors.count == 1)
    }

    @Test func `the bound on nesting is 64`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(document(nested(64)).errors == [])
        #expect(document(nested(65)).errors == ["1:65: values are nested more than 64 levels deep; flatten them"])
    }

    @Test func `aliases cannot nest deeper than the bound`() {
        var yaml = "a0: &a0 [x]\n"
        for level in 1..<70 { yaml += "a\(level): &a\(level) [*a\(level - 1)]\n" }
        #expect(document(yaml).errors == ["63:12: values are nested more than 64 levels deep; flatten them"])
    }

    @Test func `a bomb of aliases is rejected`() {
        var yaml = "a: &a [x,x,x,x,x,x,x,x,x]\n"
        for (outer, inner) in zip("bcdefghi", "abcdefgh") {
            yaml += "\(outer): &\(outer) [" + Array(repeating: "*\(inner)", count: 9).joined(separator: ",") + "]\n"
        }
        let errors = document(yaml).errors
        #expect(errors.count == 1)
        #expect(errors.first?.contains("larger than 200000 values and 16MiB of text") == true)
    }

    @Test func `a bomb of long text is rejected`() {
        let yaml =
            "a: &a \"\(String(repeating: "x", count: 1 << 20))\"\nb: ["
            + Array(repeating: "*a", count: 17).joined(separator: ",") + "]"
        #expect(document(yaml).errors.first?.hasPrefix("2:") == true)
    }

    @Test func `a file of more than 16 MiB is rejected`() {
        let errors = document([UInt8](repeating: UInt8(ascii: "#"), count: YAML.maxText + 1)).errors
        #expect(errors == ["1:1: the file is longer than 16MiB; split it"])
    }

    @Test func `a file that breaks off anywhere does no harm`() {
        let whole = Array(SettingsTests.full.utf8)
        for length in 0..<whole.count {
            let diagnostics = Diagnostics()
            let node = YAML.parse(Array(whole.prefix(length)), into: diagnostics)
            _ = Settings(node, into: diagnostics)
        }
        for index in whole.indices {
            var broken = whole
            broken[index] ^= 0x5b
            let diagnostics = Diagnostics()
            _ = Settings(YAML.parse(broken, into: diagnostics), into: diagnostics)
        }
    }
}

struct Missing: Error {}

import Bytes
import Configuration
import Documents
import Testing

/// What is written as YAML reads back as the same value.
struct EmittedYAMLTests {
    private static let odd = [
        "", "no", "Yes", "~", "null", "1_000", "0x1", "1e5", "2026-11-27", "12:30:45", "- a", "a: b", "#", "&a", "*a",
        "!x",
        "{", "}", "[", "\"", "\\", "'", "a\nb", " a ", "\t", "\r\n", "\u{7f}", "\u{85}", "\u{9f}", "\u{a0}", "\u{2028}",
        "\u{feff}", "\u{fffe}", "☂", "😀", "---", "...", "=", "<<", "%", "@", "`", "a/b.c-d_e", "on", ".inf", "y",
    ]

    @Test(arguments: odd)
    func `a text is read as this text`(text: String) throws {
        let queue = ByteQueue()
        queue.append("a: ")
        queue.append(yaml: text)
        queue.append("\nb: { c: ")
        queue.append(yaml: text)
        queue.append(", d: [")
        queue.append(quotedYAML: text)
        queue.append("] }\n")
        let root = try #require(YAML.parse(queue.readable.array, into: Diagnostics()))
        #expect(
            root.json
                == JSONValue.object([
                    .init("a", .string(text)),
                    .init("b", .object([.init("c", .string(text)), .init("d", .array([.string(text)]))])),
                ]).bytes
        )
    }

    @Test func `random values are read as themselves`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let value = Self.value(depth: 0, &random)
            let queue = ByteQueue()
            queue.append("a: ")
            queue.append(yaml: value)
            queue.append("\n")
            let diagnostics = Diagnostics()
            let root = YAML.parse(queue.readable.array, into: diagnostics)
            let text = queue.readable.string
            guard value.sizeInYAML != nil else { continue }
            let json = try #require(root?["a"]?.json, "\(text): \(diagnostics.sorted)")
            #expect(try JSON.parse(json) == value, "\(text)")
        }
    }

    @Test func `what no reader takes is said`() {
        #expect(JSONValue.string("a\0").sizeInYAML == nil)
        #expect(JSONValue.object([.init("<<", .null)]).sizeInYAML == nil)
        #expect(JSONValue.object([.init(String(repeating: "k", count: 1000), .null)]).sizeInYAML == nil)
        let size = JSONValue.array([.integer(1), .array([.null])]).sizeInYAML
        #expect(size?.nodes == 4)
        #expect(size?.depth == 3)
    }

    private static func value(depth: Int, _ random: inout SystemRandomNumberGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth < 5 ? 8 : 5), using: &random) {
        case 0: .null
        case 1: .bool(Bool.random(using: &random))
        case 2: .integer(Int.random(in: Int.min...Int.max, using: &random))
        case 3: number(&random)
        case 4: .string(text(&random))
        case 5, 6: .array((0..<Int.random(in: 0..<5, using: &random)).map { _ in value(depth: depth + 1, &random) })
        default:
            .object(
                Set((0..<Int.random(in: 0..<5, using: &random)).map { _ in text(&random) }).map {
                    JSONValue.Member($0, value(depth: depth + 1, &random))
                }
            )
        }
    }

    private static func number(_ random: inout SystemRandomNumberGenerator) -> JSONValue {
        let texts = ["0.0", "-0", "1e5", "1E-400", "2.5e+10", "123456789012345678901234567890", "-1.25", "1.0E5"]
        return (try? JSON.parse(Array((texts.randomElement(using: &random) ?? "0").utf8))) ?? .null
    }

    private static func text(_ random: inout SystemRandomNumberGenerator) -> String {
        guard Bool.random(using: &random) else { return odd.randomElement(using: &random) ?? "" }
        var text = ""
        for _ in 0..<Int.random(in: 0..<12, using: &random) {
            let limit = [0x80, 0x800, 0x10000, 0x110000].randomElement(using: &random) ?? 0x80
            if let scalar = Unicode.Scalar(UInt32.random(in: 1..<UInt32(limit), using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

internal import Bytes
internal import Configuration
internal import Documents
internal import Interceptors

@testable internal import Proxy

/// Configuration files: each is read to its end, and each complaint has its place in it.
enum ConfigurationFiles {
    static func run(_ input: Span<UInt8>) {
        let text = input.array
        let diagnostics = Diagnostics()
        let root = YAML.parse(text, into: diagnostics)
        if let root { checkDocument(root, text) }
        let plan = Plan(root, kinds: .builtIn, into: diagnostics)
        for diagnostic in diagnostics.sorted + diagnostics.warnings { check(diagnostic, text) }
        guard diagnostics.isEmpty else { return }
        let again = Diagnostics()
        demandSame(Settings(root, into: again), plan.settings, "settings are the same each time")
        let rendered = plan.settings.rendered.prettyJSON
        demand((try? JSON.parse(rendered)) != nil, "the rendered configuration is JSON")
    }

    /// A document that is written as JSON can be read, as JSON and as YAML.
    private static func checkDocument(_ root: Node, _ text: [UInt8]) {
        let written = root.json
        let isJSON = (try? JSON.parse(written)) != nil
        // JSON knows neither numbers of more than 64 bits nor members without end.
        let isPlain = !text.contains { 0x30...0x39 ~= $0 }
        demand(isJSON || !isPlain, "a document is written as JSON: \(String(decoding: written, as: UTF8.self))")
    }

    private static func check(_ diagnostic: Diagnostic, _ text: [UInt8]) {
        let isOneLine = !diagnostic.message.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f }
        demand(isOneLine, "a complaint is one line: \(diagnostic)")
        demand(!diagnostic.message.isEmpty, "a complaint has words")
        // Where the bytes are no text, lines end with LF alone.
        let isText = !["bytes that are not", "a control character"].contains {
            diagnostic.message.hasPrefix("the file contains \($0)")
        }
        var lengths = text.split(separator: 0x0a, omittingEmptySubsequences: false).map(\.count)
        if isText { lengths = lineLengths(text) }
        // libyaml ends a last line that lacks its end.
        lengths.append(0)
        let mark = diagnostic.mark
        demand(1...lengths.count ~= mark.line, "a complaint is in a line of the file: \(diagnostic)")
        demand(1...lengths[mark.line - 1] + 1 ~= mark.column, "a complaint is within its line: \(diagnostic)")
    }

    /// The characters in each line, by what breaks lines in YAML 1.1.
    private static func lineLengths(_ text: [UInt8]) -> [Int] {
        var lengths = [0]
        var last: Unicode.Scalar?
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\n" where last == "\r": break
            case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": lengths.append(0)
            default: lengths[lengths.count - 1] += 1
            }
            last = scalar
        }
        return lengths
    }
}

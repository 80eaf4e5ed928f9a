internal import Bytes
internal import CJansson

/// What is wrong with a text that should be JSON.
public struct JSONError: Error, Equatable, Sendable {
    /// The line, counted from 1.
    public let line: Int
    /// The column in characters, counted from 1.
    public let column: Int
    /// What is wrong, in Jansson's words; the text itself, which may be secret, is not quoted.
    public let text: String
}

extension JSONError {
    init(nulAt offset: Int, in bytes: Span<UInt8>) {
        let before = bytes.extracting(0..<offset).string.unicodeScalars
        let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
        line = lines.count
        column = lines[lines.count - 1].count + 1
        text = "NUL byte"
    }

    init(_ error: json_error_t) {
        line = max(1, Int(error.line))
        column = max(1, Int(error.column))
        text = unsafe withUnsafeBytes(of: error.text) { raw in
            unsafe String(decoding: Self.withoutQuotation(raw.prefix { $0 != 0 }), as: UTF8.self)
        }
    }

    /// Jansson ends its words with ` near '…'` or ` '\u…'`, which quote the text.
    private static func withoutQuotation(_ words: some Collection<UInt8>) -> [UInt8] {
        let words = Array(words)
        let end = words.indices.first { start in
            words[start...].starts(with: " near '".utf8) || words[start...].starts(with: #" '\u"#.utf8)
        }
        return Array(words[..<(end ?? words.endIndex)])
    }
}

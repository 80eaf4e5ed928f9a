internal import CYAML
internal import Configuration

/// What stopped libyaml, put into words that say what to do.
struct YAMLProblem {
    /// The error with its place.
    let diagnostic: Diagnostic

    /// Explains the error of `parser`, which was reading `text`.
    init(_ parser: yaml_parser_t, in text: UnsafeMutableBufferPointer<UInt8>) {
        let words = unsafe parser.problem.map { unsafe String(cString: $0) } ?? "unknown error"
        if unsafe parser.error == YAML_READER_ERROR {
            let mark = unsafe Self.mark(of: parser.problem_offset, in: text)
            diagnostic = Diagnostic(mark: mark, message: Self.readerMessage(words))
            return
        }
        var mark = unsafe Mark(parser.problem_mark)
        var message = "YAML: \(words)"
        let culprit = unsafe Self.character(at: parser.problem_mark.index, in: text)
        if let advice = Self.message(for: words, culprit: culprit) { message = advice }
        let context = unsafe Mark(parser.context_mark)
        let hasContext = unsafe parser.context != nil && context < mark
        if hasContext, words == "found unexpected end of stream" {
            mark = context
            message = "the quote is not closed; close it"
        } else if hasContext, words.hasPrefix("did not find expected") {
            message += " (inside what starts at line \(context.line))"
        }
        diagnostic = Diagnostic(mark: mark, message: message)
    }

    private static func readerMessage(_ words: String) -> String {
        words.hasPrefix("control characters")
            ? "the file contains a control character; remove it, or write it as an escape in double quotes"
            : "the file contains bytes that are not UTF-8; save it as UTF-8"
    }

    private static func message(for words: String, culprit: Unicode.Scalar?) -> String? {
        switch words {
        case "found character that cannot start any token" where culprit == "\t",
            "found a tab character that violates indentation",
            "found a tab character where an indentation space is expected":
            return "a tab cannot be used for indentation; use spaces"
        case "found character that cannot start any token":
            let character = Diagnostic.quote(culprit.map { String($0) } ?? "")
            return "a value cannot start with \(character); put it in quotes"
        case "mapping values are not allowed in this context":
            return "a \":\" cannot stand here; check the indentation, or put text that has \": \" in quotes"
        case "could not find expected ':'": return "the key has no \":\"; write key: value"
        case "did not find expected key", "did not find expected '-' indicator", "did not find expected <block end>",
            "did not find expected <document start>":
            return "unexpected text; check the indentation and the quotes, also on the lines before"
        case "did not find expected ',' or ']'": return "the list is not closed; check \"[\", \",\" and \"]\""
        case "did not find expected ',' or '}'":
            return "the mapping is not closed; check \"{\", \",\" and \"}\""
        case "did not find expected node content" where culprit == ":":
            return "a value cannot start with \":\"; put text such as \"[::1]:8080\" in quotes"
        case "did not find expected node content": return "a value is missing; write one, or \"\" for an empty one"
        case "block sequence entries are not allowed in this context":
            return "a list item cannot start here; start the list on its own line"
        case "found unknown escape character", "did not find expected hexdecimal number":
            return "the escape in double quotes is unknown; write \\\\ for a backslash, or use single quotes"
        default: return nil
        }
    }

    /// The character at `index`, which libyaml counts in characters.
    private static func character(at index: Int, in text: UnsafeMutableBufferPointer<UInt8>) -> Unicode.Scalar? {
        let decoded = unsafe String(decoding: text, as: UTF8.self).unicodeScalars
        return decoded.dropFirst(index).first
    }

    /// The position of the byte at `offset`.
    private static func mark(of offset: Int, in text: UnsafeMutableBufferPointer<UInt8>) -> Mark {
        var line = 1
        var column = 1
        for index in 0..<min(offset, text.count) {
            let byte = unsafe text[index]
            if byte == UInt8(ascii: "\n") {
                (line, column) = (line + 1, 1)
            } else if byte & 0xc0 != 0x80 {
                column += 1
            }
        }
        return Mark(line: line, column: column)
    }
}

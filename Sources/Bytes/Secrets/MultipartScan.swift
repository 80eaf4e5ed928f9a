/// The parts of a body of `multipart/form-data` (RFC 7578).
///
/// Reads what browsers send, and line breaks without a carriage return. The last part may be cut off.
struct MultipartScan {
    /// A part of the body.
    struct Part {
        /// The names of the field without quotes and escapes; several if readers may understand different ones.
        let names: [[UInt8]]
        /// Whether the part is a file.
        let isFile: Bool
        /// The range of the content in the body.
        let content: Range<Int>
    }

    /// The length of the longest boundary (RFC 2046 §5.1.1).
    static let maxBoundary = 70

    private let body: [UInt8]
    private let delimiter: [UInt8]

    init(_ body: [UInt8], boundary: [UInt8]) {
        (self.body, delimiter) = (body, Array("--".utf8) + boundary)
    }

    /// The parts in order.
    var parts: [Part] {
        var (parts, next) = ([Part](), nextDelimiter(from: 0))
        while let delimiter = next {
            guard let start = lineEnd(from: delimiter.upperBound) else { break }
            next = nextDelimiter(from: start)
            let end = next.map { contentEnd(before: $0.lowerBound) } ?? body.count
            parts.append(part(start..<max(start, end)))
        }
        return parts
    }

    /// Returns the next delimiter at the start of a line.
    private func nextDelimiter(from start: Int) -> Range<Int>? {
        var start = start
        while let range = body.firstRange(of: delimiter, from: start) {
            let isStart = range.lowerBound == 0 || body[range.lowerBound - 1] == 0x0a
            if isStart, isDelimiter(endingAt: range.upperBound) { return range }
            start = range.upperBound
        }
        return nil
    }

    /// Whether nothing but `--` and white space is between an index and the end of its line.
    private func isDelimiter(endingAt index: Int) -> Bool {
        let rest = body[index...]
        let last = rest.starts(with: "--".utf8) ? rest.dropFirst(2) : rest
        let next = last.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0d }
        return next == nil || next == 0x0a
    }

    /// Returns the index after the line that has `start`.
    private func lineEnd(from start: Int) -> Int? {
        guard start <= body.count else { return nil }
        return body.span.firstIndex(of: 0x0a, from: start).map { $0 + 1 }
    }

    /// Returns the end of a content, without the line break that belongs to the delimiter after it.
    private func contentEnd(before delimiter: Int) -> Int {
        delimiter >= 2 && body[delimiter - 2] == 0x0d ? delimiter - 2 : max(0, delimiter - 1)
    }

    private func part(_ range: Range<Int>) -> Part {
        var (lines, start) = ([[UInt8]](), range.lowerBound)
        while start < range.upperBound {
            let end = min(range.upperBound, lineEnd(from: start) ?? range.upperBound)
            let line = Array(body[start..<end]).span.trimmedOfWhiteSpace.array
            // A line that begins with white space continues the one before.
            if !line.isEmpty, body[start] == 0x20 || body[start] == 0x09, !lines.isEmpty {
                lines[lines.count - 1] += line
            } else {
                lines.append(line)
            }
            start = end
            if line.isEmpty { break }
        }
        let fields = lines.filter { $0.isDisposition }.map(Self.parameters)
        return Part(
            names: fields.joined().filter { ["name", "name*"].contains($0.name) }
                .flatMap { Self.spellings(of: $0.value) },
            // Readers differ about which of several fields counts.
            isFile: !fields.isEmpty
                && fields.allSatisfy { $0.contains { ["filename", "filename*"].contains($0.name) } },
            content: min(start, range.upperBound)..<range.upperBound
        )
    }

    /// Returns a name as sent, and as decoded by readers that know escapes and character sets (RFC 8187).
    private static func spellings(of name: [UInt8]) -> [[UInt8]] {
        let plain = MaskedText.decoded(name[...])
        let quote = plain.lastIndex(of: UInt8(ascii: "'"))
        return [name, plain] + (quote.map { [Array(plain[($0 + 1)...])] } ?? [])
    }

    /// Returns the parameters in the value of a field: their names in small letters, and their values without quotes.
    ///
    /// A parameter without `=` is left out.
    static func parameters(of field: [UInt8]) -> [(name: String, value: [UInt8])] {
        var (parameters, index) = ([(name: String, value: [UInt8])](), 0)
        while let semicolon = field.span.firstIndex(of: UInt8(ascii: ";"), from: index) {
            index = semicolon + 1
            guard let end = field[index...].firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") })
            else { break }
            let name = String(decoding: field[index..<end].map(\.lowercasedASCII), as: UTF8.self)
            index = end
            guard field[end] == UInt8(ascii: "=") else { continue }
            let value: [UInt8]
            (value, index) = Self.value(field, from: end + 1)
            parameters.append((name.filter { $0 != " " && $0 != "\t" }, value))
        }
        return parameters
    }

    /// Returns the value that begins at `start`, and its end.
    private static func value(_ field: [UInt8], from start: Int) -> ([UInt8], Int) {
        var index = field[start...].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? field.count
        guard index < field.count, field[index] == UInt8(ascii: "\"") else {
            let end = field[index...].firstIndex(of: UInt8(ascii: ";")) ?? field.count
            return (field[index..<end].filter { $0 != 0x20 && $0 != 0x09 }, end)
        }
        var value: [UInt8] = []
        index += 1
        while index < field.count, field[index] != UInt8(ascii: "\"") {
            if field[index] == UInt8(ascii: "\\"), index + 1 < field.count { index += 1 }
            value.append(field[index])
            index += 1
        }
        return (value, index)
    }
}

extension [UInt8] {
    /// Whether a line is the field `Content-Disposition`, with white space before its colon or without.
    fileprivate var isDisposition: Bool {
        guard let colon = firstIndex(of: UInt8(ascii: ":")) else { return false }
        return span.extracting(0..<colon).trimmedOfWhiteSpace.equalsIgnoringCase("content-disposition")
    }
}

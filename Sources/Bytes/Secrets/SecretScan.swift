/// The places of the credentials in one text.
struct SecretScan {
    private let text: [UInt8]
    private let form: MaskedText.Form
    private let parameter: [UInt8]?

    init(_ text: [UInt8], _ form: MaskedText.Form, _ parameter: [UInt8]?) {
        (self.text, self.form, self.parameter) = (text, form, parameter)
    }

    // MARK: By form

    /// The user information of URLs, without its `@`.
    var userInformation: [Range<Int>] {
        guard text.contains(UInt8(ascii: "@")) else { return [] }
        var (ranges, start) = ([Range<Int>](), 0)
        while let slashes = text.firstRange(of: Array("//".utf8), from: start) {
            start = slashes.upperBound
            let isURL = slashes.lowerBound == 0 || text[slashes.lowerBound - 1].isBeforeAuthority
            guard isURL else { continue }
            let end = text[start...].firstIndex(where: \.endsAuthority) ?? text.count
            if let at = text[start..<end].lastIndex(of: UInt8(ascii: "@")), at > start { ranges.append(start..<at) }
        }
        return ranges
    }

    /// JSON Web Tokens, signed (RFC 7515 §7.1) or encrypted.
    var tokens: [Range<Int>] {
        var (ranges, start) = ([Range<Int>](), 0)
        while let found = text.firstRange(of: Array("eyJ".utf8), from: start) {
            start = text[found.lowerBound...].firstIndex { !$0.isInJWT } ?? text.count
            // A dot may end a sentence.
            let end = text[start - 1] == UInt8(ascii: ".") ? start - 1 : start
            let isWord = found.lowerBound == 0 || !text[found.lowerBound - 1].isInJWT
            let dots = text[found.lowerBound..<start].count { $0 == UInt8(ascii: ".") }
            if isWord, dots >= 2 { ranges.append(found.lowerBound..<end) }
        }
        return ranges
    }

    private static let schemeNames = ["bearer", "basic", "negotiate", "ntlm", "dpop"].map { Array($0.utf8) }

    /// The maximum length of a word that is analyzed; longer ones are masked, which keeps the scan linear.
    private static let maxWord = 256

    /// Whether a text has the name of a scheme, and a gap after it.
    static func hasScheme(_ text: Span<UInt8>) -> Bool {
        hasScheme(text, before: 0x20) || hasScheme(text, before: 0x09) || hasScheme(text, before: UInt8(ascii: "+"))
    }

    private static func hasScheme(_ text: Span<UInt8>, before gap: UInt8) -> Bool {
        var start = 0
        while let index = text.firstIndex(of: gap, from: start) {
            if endsWithScheme(text.extracting(0..<index)) { return true }
            start = index + 1
        }
        return false
    }

    private static func endsWithScheme(_ text: Span<UInt8>) -> Bool {
        guard let last = text.isEmpty ? nil : text[text.count - 1].lowercasedASCII else { return false }
        return schemeNames.contains { name in
            guard name[name.count - 1] == last, text.count >= name.count else { return false }
            let start = text.count - name.count
            return name.indices.allSatisfy { text[start + $0].lowercasedASCII == name[$0] }
        }
    }

    /// The credentials after the name of a scheme (RFC 9110 §11.4), such as `Bearer`.
    var schemes: [Range<Int>] {
        guard text.contains(where: \.isSchemeGap) else { return [] }
        let small = text.map(\.lowercasedASCII)
        var ranges: [Range<Int>] = []
        for name in Self.schemeNames {
            var start = 0
            while let found = small.firstRange(of: name, from: start) {
                start = found.upperBound
                guard found.lowerBound == 0 || !text[found.lowerBound - 1].isLetterOrDigit,
                    found.upperBound < text.count, text[found.upperBound].isSchemeGap
                else { continue }
                let first = text[found.upperBound...].firstIndex { !$0.isSchemeGap } ?? text.count
                let word = text[first...].prefix(Self.maxWord).prefix { $0.isInToken68 }
                guard word.count == Self.maxWord else {
                    if isCredential(word) { ranges.append(word.indices) }
                    continue
                }
                let end = text[word.endIndex...].firstIndex { !$0.isInToken68 } ?? text.count
                ranges.append(first..<end)
                // The name of another scheme may end the word.
                start = max(start, end - name.count)
            }
        }
        return ranges
    }

    /// Whether a word after the name of a scheme is a credential, and neither a parameter nor plain words.
    private func isCredential(_ word: ArraySlice<UInt8>) -> Bool {
        let plain = word.prefix { $0 != UInt8(ascii: "=") }
        guard word.count >= MaskedText.minSecret, word[plain.endIndex...].allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            return false
        }
        let isQuotedNext = word.endIndex < text.count && text[word.endIndex] == UInt8(ascii: "\"")
        if plain.endIndex < word.endIndex, isQuotedNext { return false }
        if word.count >= 24 || plain.endIndex < word.endIndex { return true }
        let isMixed = zip(word, word.dropFirst()).contains { $0.isSmall && $1.isCapital }
        return isMixed || word.contains { 0x30...0x39 ~= $0 || [0x2b, 0x5f, 0x7e].contains($0) }
    }

    // MARK: By name

    /// The values of parameters: `name=value`.
    var parameters: [Range<Int>] {
        var (ranges, start) = ([Range<Int>](), 0)
        while let equals = text.span.firstIndex(of: UInt8(ascii: "="), from: start) {
            start = equals + 1
            let first = (text[..<equals].lastIndex(where: \.isBeforeName) ?? -1) + 1
            guard isSecret(first..<equals) || isSecret(parameterName(before: equals)) else { continue }
            let range = value(from: start)
            if !range.isEmpty { ranges.append(range) }
            start = max(start, range.upperBound)
        }
        return ranges
    }

    /// Returns the name of a parameter as servers read it: everything since the last delimiter, or nothing if there is none.
    private func parameterName(before equals: Int) -> Range<Int> {
        let delimiter = text[..<equals].lastIndex {
            $0.isBeforeParameter || $0 == UInt8(ascii: "=") || form == .text && $0.endsURL
        }
        guard let delimiter, text[delimiter].isBeforeParameter else { return equals..<equals }
        return delimiter + 1..<equals
    }

    private func isSecret(_ range: Range<Int>) -> Bool {
        guard !range.isEmpty else { return false }
        let name = MaskedText.decoded(text[range])
        let isParameter = range.lowerBound > 0 && text[range.lowerBound - 1].isBeforeParameter
        if isParameter, name == parameter { return true }
        return SecretName.matches(name.span, isParameter: isParameter)
    }

    /// The value that begins at `start`.
    ///
    /// A `;` does not end it, as only some servers separate parameters so. A form has no fragment.
    private func value(from start: Int) -> Range<Int> {
        if form == .text, start < text.count, text[start] == UInt8(ascii: "\"") {
            let end = text[(start + 1)...].firstIndex(of: UInt8(ascii: "\"")) ?? text.count
            return start + 1..<end
        }
        let isText = form == .text
        let isForm = form == .fields
        let end =
            text[start...].firstIndex {
                $0 == UInt8(ascii: "&") || !isForm && $0 == UInt8(ascii: "#") || isText && $0.endsURL
            } ?? text.count
        return isText && end > start && text[end - 1] == UInt8(ascii: ",") ? start..<end - 1 : start..<end
    }

    /// The values of members of JSON in a text: `"name": value`.
    var members: [Range<Int>] {
        var (ranges, start) = ([Range<Int>](), 0)
        while let colon = text.span.firstIndex(of: UInt8(ascii: ":"), from: start) {
            start = colon + 1
            guard let name = quotedName(before: colon), SecretName.matches(text[name].span, isParameter: false) else {
                continue
            }
            let first = text[start...].firstIndex { !$0.isWhiteSpace } ?? text.count
            let range = member(from: first)
            if !range.isEmpty { ranges.append(range) }
            start = max(start, range.upperBound)
        }
        return ranges
    }

    private func quotedName(before colon: Int) -> Range<Int>? {
        guard let close = text[..<colon].lastIndex(where: { !$0.isWhiteSpace }), text[close] == UInt8(ascii: "\""),
            let open = text[..<close].lastIndex(of: UInt8(ascii: "\"")),
            !text[(open + 1)..<close].contains(where: \.endsRun)
        else { return nil }
        return open + 1..<close
    }

    private func member(from first: Int) -> Range<Int> {
        // JSON within a string of JSON has its quotes escaped.
        let isEscaped = first < text.count && text[first] == UInt8(ascii: "\\")
        let open = isEscaped ? first + 1 : first
        guard open < text.count, text[open] == UInt8(ascii: "\"") else {
            let end = text[first...].firstIndex(where: \.endsMember) ?? text.count
            return first..<end
        }
        var index = open + 1
        while index < text.count, text[index] != UInt8(ascii: "\"") {
            if text[index] == UInt8(ascii: "\\") {
                if isEscaped, index + 1 < text.count, text[index + 1] == UInt8(ascii: "\"") { break }
                index += 1
            }
            index += 1
        }
        return open + 1..<min(index, text.count)
    }

    /// The values of header fields in a text: `x-api-key: value`.
    var fields: [Range<Int>] {
        var (ranges, start) = ([Range<Int>](), 0)
        while let gap = text.firstRange(of: Array(": ".utf8), from: start) {
            start = gap.upperBound
            let first = (text[..<gap.lowerBound].lastIndex(where: \.isBeforeName) ?? -1) + 1
            let name = text[first..<gap.lowerBound].map(\.lowercasedASCII)
            let isLine = name.firstRange(of: Array("authorization".utf8), from: 0) != nil || name.isCookie
            guard isLine || name.contains(UInt8(ascii: "-")), SecretName.matches(name.span, isParameter: false) else {
                continue
            }
            let end = text[start...].firstIndex { isLine ? $0 == 0x0a || $0 == 0x0d : $0.endsField } ?? text.count
            if start < end { ranges.append(start..<end) }
            start = end
        }
        return ranges
    }

    // MARK: Escapes

    /// The parts of a path or query that have escapes.
    var escapedRuns: [Range<Int>] {
        var (ranges, start) = ([Range<Int>](), 0)
        while let escape = text.span.firstIndex(of: UInt8(ascii: "%"), from: start) {
            let first = (text[..<escape].lastIndex(where: \.endsRun) ?? -1) + 1
            let end = text[escape...].firstIndex(where: \.endsRun) ?? text.count
            ranges.append(first..<end)
            start = end
        }
        return ranges
    }
}

extension [UInt8] {
    fileprivate var isCookie: Bool { span.equals("cookie") || span.equals("set-cookie") }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { self == 0x20 || 0x09...0x0d ~= self }
    fileprivate var isSmall: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }
    fileprivate var isCapital: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }
    fileprivate var isLetterOrDigit: Bool { isSmall || isCapital || 0x30...0x39 ~= self }
    /// White space, quotes and angle brackets, which no URL has.
    fileprivate var endsURL: Bool { isWhiteSpace || [0x22, 0x3c, 0x3e].contains(self) }
    fileprivate var endsAuthority: Bool { endsURL || [0x23, 0x2f, 0x3f].contains(self) }
    fileprivate var endsMember: Bool { isWhiteSpace || [0x2c, 0x5d, 0x7d].contains(self) }
    fileprivate var endsField: Bool { isWhiteSpace || [0x22, 0x2c, 0x3b].contains(self) }
    fileprivate var endsRun: Bool { endsAuthority || [0x26, 0x3b, 0x3d].contains(self) }
    /// The byte before the `//` of a URL: the end of a scheme, or what no word has.
    fileprivate var isBeforeAuthority: Bool { endsURL || [0x27, 0x28, 0x2c, 0x3a, 0x3d].contains(self) }
    fileprivate var isBeforeParameter: Bool { [0x23, 0x26, 0x3b, 0x3f].contains(self) }
    /// Whether the byte is not part of a name: all but letters, digits, escapes, brackets and `-._~`.
    fileprivate var isBeforeName: Bool { !(isInJWT || self >= 0x80 || [0x25, 0x5b, 0x5d, 0x7e].contains(self)) }
    fileprivate var isSchemeGap: Bool { self == 0x20 || self == 0x09 || self == UInt8(ascii: "+") }
    fileprivate var isInJWT: Bool { isLetterOrDigit || [0x2d, 0x2e, 0x5f].contains(self) }
    fileprivate var isInToken68: Bool { isInJWT || [0x2b, 0x2f, 0x3d, 0x7e].contains(self) }
}

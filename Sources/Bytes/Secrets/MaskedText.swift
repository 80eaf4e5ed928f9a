/// Texts for logs and other people: without the credentials in them.
///
/// Credentials are known by their form (user information of URLs, JWTs, `Bearer …`) or by the name before them.
public enum MaskedText {
    /// The form of a text, which says where a value in it ends.
    public enum Form: Sendable {
        /// A target or URL, perhaps with a method before it: values end at `&` and `#`.
        case url
        /// The fields of a URL-encoded form after a `?`: values end at `&` alone.
        case fields
        /// Any other text: values end at white space, too.
        case text
    }

    /// The replacement for a value that is not shown.
    public static let mask: StaticString = "***"

    /// The length of the shortest value that is looked for by itself: shorter ones are often words.
    public static let minSecret = 6
    /// The length of the longest text that is looked into; longer ones are masked as a whole.
    public static let maxText = 64 * 1024
    /// The maximum number of escapes within escapes.
    private static let maxDepth = 4

    /// Whether a text has bytes that every credential has, so that `masked` may change it.
    ///
    /// Reads the text a few times and allocates nothing. `false` means that `masked` changes nothing, unless a parameter or
    /// secrets are given.
    public static func mayHide(_ text: Span<UInt8>) -> Bool {
        text.count > maxText || text.firstIndex(of: UInt8(ascii: "=")) != nil
            || text.firstIndex(of: UInt8(ascii: "@")) != nil
            || text.firstIndex(of: UInt8(ascii: "%")) != nil || hasToken(text) || hasName(text)
            || SecretScan.hasScheme(text)
    }

    /// Whether a text may have a member of JSON or a header field, with a name before its value.
    private static func hasName(_ text: Span<UInt8>) -> Bool {
        guard text.firstIndex(of: UInt8(ascii: ":")) != nil else { return false }
        return text.firstIndex(of: 0x20) != nil || text.firstIndex(of: UInt8(ascii: "\"")) != nil
    }

    /// Whether a text has the first letters of a JSON Web Token, `eyJ`.
    private static func hasToken(_ text: Span<UInt8>) -> Bool {
        var start = 2
        while let index = text.firstIndex(of: UInt8(ascii: "J"), from: start) {
            if text[index - 1] == UInt8(ascii: "y"), text[index - 2] == UInt8(ascii: "e") { return true }
            start = index + 1
        }
        return false
    }

    /// Returns the text with `***` for its credentials, or `nil` if there are none.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - form: The form of the text.
    ///   - parameter: A name whose values are masked, too, or `nil`.
    ///   - secrets: Values that are masked wherever they are, with escapes or without.
    /// - Returns: The text to show, or `nil`.
    public static func masked(
        _ text: [UInt8],
        _ form: Form = .text,
        parameter: String? = nil,
        secrets: KnownSecrets = KnownSecrets()
    ) -> [UInt8]? {
        guard text.count <= maxText else { return Array("\(mask)".utf8) }
        let parameter = parameter.map { Array($0.utf8) }
        return masked(text, secretRanges(text, form, parameter: parameter, secrets, depth: 0))
    }

    /// Returns the text with `***` for each range, or `nil` if there are none.
    private static func masked(_ text: [UInt8], _ ranges: [Range<Int>]) -> [UInt8]? {
        guard !ranges.isEmpty else { return nil }
        var (shown, end) = ([UInt8](), 0)
        for range in union(of: ranges) {
            shown += text[end..<range.lowerBound]
            shown += Array("\(mask)".utf8)
            end = range.upperBound
        }
        return shown + text[end...]
    }

    /// Returns the ranges in order, those that overlap or touch as one.
    private static func union(of ranges: [Range<Int>]) -> [Range<Int>] {
        ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { union, range in
            if let last = union.last, range.lowerBound <= last.upperBound {
                union[union.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                union.append(range)
            }
        }
    }

    /// Returns a body of `application/x-www-form-urlencoded` with `***` for its credentials, or `nil` if there are none.
    public static func maskedForm(_ body: [UInt8]) -> [UInt8]? {
        // The first field needs a byte before its name, as in a query.
        masked([UInt8(ascii: "?")] + body, .fields).map { $0.first == UInt8(ascii: "?") ? Array($0.dropFirst()) : $0 }
    }

    /// Returns a body of `multipart/form-data` with `***` for its credentials, or `nil` if there are none.
    ///
    /// A body without parts, such as one with another boundary, is masked as a whole. So is a body whose boundary is too long.
    public static func maskedForm(_ body: [UInt8], boundary: [UInt8]) -> [UInt8]? {
        let isValid = boundary.count <= MultipartScan.maxBoundary
        let parts = isValid ? MultipartScan(body, boundary: boundary).parts : []
        guard !parts.isEmpty || body.isEmpty else { return Array("\(mask)".utf8) }
        return masked(body, parts.flatMap { secretRanges(of: $0, in: body) })
    }

    /// Returns the boundary that a content type names; empty if it names none.
    public static func boundary(in contentType: [UInt8]) -> [UInt8] {
        MultipartScan.parameters(of: contentType).first { $0.name == "boundary" }?.value ?? []
    }

    private static func secretRanges(of part: MultipartScan.Part, in body: [UInt8]) -> [Range<Int>] {
        guard !part.content.isEmpty else { return [] }
        if part.names.contains(where: { SecretName.matches($0.span) }) { return [part.content] }
        guard !part.isFile, part.content.count <= maxText else { return [] }
        let content = Array(body[part.content])
        return secretRanges(content, .text, parameter: nil, KnownSecrets(), depth: 0)
            .map { $0.lowerBound + part.content.lowerBound..<$0.upperBound + part.content.lowerBound }
    }

    /// Returns the text with `***` for its credentials.
    public static func masked(_ text: String, _ form: Form = .text, secrets: KnownSecrets = KnownSecrets()) -> String {
        let bytes = Array(text.utf8)
        return masked(bytes, form, secrets: secrets).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    private static func secretRanges(
        _ text: [UInt8],
        _ form: Form,
        parameter: [UInt8]?,
        _ secrets: KnownSecrets,
        depth: Int
    ) -> [Range<Int>] {
        let scan = SecretScan(text, form, parameter)
        var ranges = scan.userInformation + scan.parameters + scan.tokens + scan.schemes + secrets.ranges(in: text)
        if form == .text { ranges += scan.members + scan.fields }
        guard depth < maxDepth else { return ranges }
        // A URL within a URL is escaped.
        for run in scan.escapedRuns {
            let plain = decoded(text[run])
            if !secretRanges(plain, .text, parameter: nil, secrets, depth: depth + 1).isEmpty { ranges.append(run) }
        }
        return ranges
    }

    /// Returns the bytes that a text with escapes stands for.
    static func decoded(_ escaped: ArraySlice<UInt8>) -> [UInt8] {
        let span = escaped.span
        var (plain, index) = ([UInt8](), 0)
        while index < span.count {
            let byte = span.escapedByte(at: index)
            plain.append(byte ?? span[index])
            index += byte == nil ? 1 : 3
        }
        return plain
    }
}

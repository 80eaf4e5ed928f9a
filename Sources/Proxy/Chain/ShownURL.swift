internal import Bytes
internal import HTTP
internal import Protocols

/// URLs as people may see them: without the values of parameters that are named like credentials.
public enum ShownURL {
    private static let parts = [
        "token", "secret", "password", "passwd", "apikey", "api_key", "api-key", "signature", "credential", "session",
        "assertion", "bearer",
    ]
    private static let words: Set<String> = [
        "key", "sig", "auth", "authorization", "code", "jwt", "pwd", "sid", "otp", "pin",
    ]

    /// Whether a header, whose name is in small letters, is named like a credential.
    public static func isSecret(field name: String) -> Bool {
        parts.contains { name.contains($0) } || ["authorization", "cookie"].contains { name.contains($0) }
            || name.split { "-_".contains($0) }.contains { ["auth", "jwt", "sid", "pwd", "otp", "pin"].contains($0) }
    }

    /// Headers whose values are URLs.
    private static let fields: Set<String> = ["location", "content-location", "referer", "refresh", "link"]

    /// The value of a header, whose name is in small letters, as it may be shown.
    public static func text(_ value: String, ofField name: String) -> String {
        fields.contains(name) ? text(value) : value
    }

    /// A URL, or the name of a call with its target, as it may be shown.
    public static func text(_ url: String) -> String { text(url, hiding: []) }

    /// Likewise; the values of these parameters are hidden, too.
    static func text(_ url: String, hiding hidden: Set<String>) -> String {
        let ends = "?#"
        guard let mark = url.firstIndex(where: ends.contains) else { return url }
        var text = String(url[...mark])
        var rest = url[url.index(after: mark)...]
        while !rest.isEmpty {
            let field = rest.prefix { !"&;#".contains($0) }
            rest = rest[field.endIndex...]
            if let equals = field.firstIndex(of: "="), isSecret(field[..<equals], hidden) {
                text += field[...equals] + "\(Redactions.mask)"
                // A value may have semicolons, as only some take them for separators.
                rest = rest.drop { !"&#".contains($0) }
            } else {
                text += field
            }
            if let separator = rest.popFirst() { text.append(separator) }
        }
        return text
    }

    /// Whether a parameter is named like a credential, whether its name is escaped or not.
    private static func isSecret(_ escaped: Substring, _ hidden: Set<String>) -> Bool {
        let bytes = Array(escaped.utf8)
        let span = bytes.span
        var (plain, index) = ([UInt8](), 0)
        while index < span.count {
            let byte = span.escapedByte(at: index)
            plain.append(byte ?? span[index])
            index += byte == nil ? 1 : 3
        }
        let name = String(decoding: plain, as: UTF8.self).lowercased()
        return parts.contains { name.contains($0) } || words.contains(name) || hidden.contains(name)
    }
}

extension Call {
    /// The path and the query of a request of the call, as they may be shown: a query may be a message.
    func shownTarget(_ head: HTTPHead) -> String {
        let hidden: Set<String> = rpcProtocol == .connectGet && redactions.hasPointers ? ["message"] : []
        return ShownURL.text(head.target.string, hiding: hidden)
    }

    /// `pkg.Service/Method`, or the HTTP method and the target without what is named like a credential.
    public var shownName: String { ShownURL.text(String(decoding: fullName, as: UTF8.self)) }
}

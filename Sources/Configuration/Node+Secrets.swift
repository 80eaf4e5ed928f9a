internal import Bytes

extension Node {
    /// The node with `…` in the place of each text below a key that is named like a secret, such as `authorization`, and of
    /// the query of each URL.
    ///
    /// Where a secret comes from (`file`, `env`, `credential`) is not hidden.
    public var hidingSecrets: Node { hidingSecrets(and: []) }

    /// Likewise; what is below one of `keys` is a secret, too.
    fileprivate func hidingSecrets(and keys: Set<String>) -> Node {
        switch content {
        case .null: self
        case .scalar(let text, _): Self.hidingQuery(text).map { .plain($0, at: mark) } ?? self
        case .sequence(let items): Node(.sequence(items.map { $0.hidingSecrets(and: keys) }), at: mark)
        case .mapping(let entries): Node(.mapping(entries.map { $0.hidingSecrets(and: keys) }), at: mark)
        }
    }

    /// A URL without its query, in which keys are handed over; none for what is no URL or has no query.
    private static func hidingQuery(_ text: String) -> String? {
        guard let query = text.utf8.firstIndex(of: UInt8(ascii: "?")),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        let isScheme = text.utf8[..<colon].allSatisfy { byte in
            0x61...0x7a ~= byte | 0x20 || 0x30...0x39 ~= byte || byte == UInt8(ascii: "+")
        }
        guard colon < query, isScheme, text.utf8[colon...].dropFirst().first == UInt8(ascii: "/") else { return nil }
        return text[...query] + "…"
    }

    /// The node with all its texts hidden, but for where a secret comes from.
    fileprivate var hidden: Node {
        switch content {
        case .null: self
        case .scalar: .plain("…", at: mark)
        case .sequence(let items): Node(.sequence(items.map(\.hidden)), at: mark)
        case .mapping(let entries):
            Node(.mapping(entries.map { $0.isSource ? $0 : $0.with($0.value.hidden) }), at: mark)
        }
    }
}

extension Node.Entry {
    fileprivate func hidingSecrets(and keys: Set<String>) -> Node.Entry {
        // `token:` with a mapping is a kind of interceptor or a source of tokens, not itself a token.
        // Nor is the name of a credential of systemd a secret; a header or a field with the name `credential` is another
        // matter.
        if key == "token", case .mapping(let entries) = value.content {
            let shown = entries.map { $0.isSource ? $0 : $0.hidingSecrets(and: Self.secretsOfTokens) }
            return with(Node(.mapping(shown), at: value.mark))
        }
        if Self.filesOfSecrets.contains(key), case .mapping(let entries) = value.content, entries.allSatisfy(\.isSource)
        {
            return self
        }
        if key == "calls" { return with(value.hidingSecrets(and: Self.secretsOfCalls)) }
        return with(isSecret || keys.contains(key) ? value.hidden : value.hidingSecrets(and: keys))
    }

    private static let filesOfSecrets: Set = [
        "ca", "certificate", "client_ca", "client_certificate", "client_key", "key",
    ]
    private static let secretsOfTokens: Set = ["value", "environment", "claims", "parameters"]
    private static let secretsOfCalls: Set = ["body", "query", "headers"]

    fileprivate var isSource: Bool {
        ["file", "env", "credential"].contains(key) && value.text != nil
    }

    fileprivate func with(_ value: Node) -> Node.Entry {
        Node.Entry(key: key, keyMark: keyMark, value: value)
    }

    private var isSecret: Bool {
        // A key by itself is that of a certificate, in a file, or a template.
        guard key != "key" else { return false }
        let words = key.lowercased().split { "-_. ".contains($0) }
        guard let last = words.last, !["file", "path", "env", "url"].contains(last) else { return false }
        // No option has a hyphen, so the name is that of a header or a parameter.
        if key.contains("-"), value.text != nil, SecretName.matches(Array(key.utf8).span) { return true }
        return last == "key" || words.contains { Self.secretWords.contains(String($0)) }
    }

    private static let secretWords: Set = [
        "authorization", "cookie", "credential", "credentials", "passphrase", "passwd", "password", "secret", "secrets",
        "token", "tokens", "apikey", "signature", "assertion",
    ]
}

internal import Bytes

extension Node {
    /// The node with `…` in the place of each text below a key that is named like a secret, such as `authorization`, and of
    /// the query of each URL, and with `***` for the credentials in other texts.
    ///
    /// Where a secret comes from (`file`, `env`, `credential`) is not hidden.
    public var hidingSecrets: Node { hidingSecrets(and: []) }

    /// Likewise; what is below one of `keys` is a secret, too.
    fileprivate func hidingSecrets(and keys: Set<String>) -> Node {
        switch content {
        case .null: self
        case .scalar(let text, _): Self.shown(text).map { .plain($0, at: mark) } ?? self
        case .sequence(let items): Node(.sequence(items.map { $0.hidingSecrets(and: keys) }), at: mark)
        case .mapping(let entries): Node(.mapping(entries.map { $0.hidingSecrets(and: keys) }), at: mark)
        }
    }

    /// Returns a text without the query of a URL and without credentials, or `nil` if it has neither.
    private static func shown(_ text: String) -> String? {
        let plain = hidingQuery(text)
        guard let masked = MaskedText.masked(Array((plain ?? text).utf8)) else { return plain }
        return String(decoding: masked, as: UTF8.self)
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
        if Self.things.contains(key), case .mapping(let entries) = value.content {
            let inner = key == "calls" ? Self.secretsOfCalls : keys
            let shown = entries.map { $0.with($0.value.hidingSecrets(and: inner)) }
            return with(Node(.mapping(shown), at: value.mark))
        }
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

    /// Whether the key stands for a credential, by the one table of names.
    private var isSecret: Bool {
        // A key by itself is that of a certificate, in a file, or a template.
        guard key != "key", !isPlainOption else { return false }
        let words = key.lowercased().split { "-_. ".contains($0) }
        guard let last = words.last, !["file", "path", "env", "url"].contains(last) else { return false }
        return last == "key" || SecretName.matches(Array(key.utf8).span, isParameter: false)
    }

    /// Whether the entry is an option with the name, but without the value of a credential.
    private var isPlainOption: Bool {
        switch value.content {
        case .scalar(let text, _): Self.plainOptions[key]?.contains(text) ?? false
        case .mapping: key == "jwt"
        case .null, .sequence: false
        }
    }

    private static let plainOptions: [String: Set] = [
        "auth": ["basic", "post", "private_key_jwt"], "cookies": ["none", "jar", "expose", "ignore"],
    ]
    /// Options whose keys are names of things, which the user chooses.
    private static let things: Set = ["caches", "calls", "chains", "methods", "mocks", "stores", "upstreams"]
}

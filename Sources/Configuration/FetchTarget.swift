/// Where a request of our own goes: a server, and the path with the query there.
public struct FetchTarget: Equatable, Sendable {
    /// The options of a section with a target, beside the URL.
    public static let options = [
        Option("tls", .section(UpstreamTLSSettings.options), "The TLS settings for an https:// server."),
        Option("timeout", .timeout, default: "10s", "The time limit of the response."),
        Option(
            "allow_clear_text",
            .bool,
            default: "false",
            "Allows the request to go to another machine without TLS, or with `tls.insecure`."
        ),
    ]

    /// The server.
    public let server: UpstreamSettings
    /// The path with the query.
    public let target: String

    /// Reads the URL of `key` and what `options` say of its server; none if something is wrong, which is reported.
    ///
    /// - Parameters:
    ///   - section: what the URL and its options stand in.
    ///   - key: where the URL stands.
    ///   - fixed: the URL where the section does not have it.
    public init?(_ section: Section, _ key: String, url fixed: String? = nil) {
        guard let text = fixed ?? section.string(ifGiven: key) else { return nil }
        let start = text.range(ofPath: "://")
        let path = text[start...]
        target = path.isEmpty ? "/" : path.unicodeScalars.first == "?" ? "/\(path)" : String(path)
        let mark = section.mark(of: key)
        let diagnostics = Diagnostics()
        let server = UpstreamSettings(server: String(text[..<start]), of: section, at: mark, into: diagnostics)
        for problem in diagnostics.sorted { section.diagnostics.report(problem.message, at: problem.mark) }
        guard let server, case .tcp = server.url.endpoint, !target.unicodeScalars.contains("#") else {
            if diagnostics.isEmpty { section.report("write a URL such as https://id.example/token", at: key) }
            return nil
        }
        self.server = server
        if !server.isConfidential, !section.bool("allow_clear_text") {
            let whither =
                server.tls == nil ? "in clear text" : "to a server whose certificate is not verified (tls.insecure)"
            section.report(
                "the request would go to \(server.url) \(whither); add allow_clear_text: true to allow it",
                at: key
            )
        }
    }
}

extension FetchTarget {
    private init(_ server: UpstreamSettings, _ target: String) { (self.server, self.target) = (server, target) }

    /// Another path of the same server.
    func with(target: String) -> FetchTarget { FetchTarget(server, target) }
}

extension UpstreamSettings {
    /// The server of a request of our own: its URL, and what the section says of TLS.
    init?(server url: String, of section: Section, at mark: Mark, into diagnostics: Diagnostics) {
        var entries = [Node.Entry(key: "url", keyMark: mark, value: .plain(url, at: mark))]
        if let tls = section.given["tls"] { entries.append(tls) }
        let options = Section(Node(.mapping(entries), at: mark), Self.options, into: diagnostics)
        self.init(NamedSection(name: "fetch", mark: mark, section: options))
        for need in diagnostics.needs where diagnostics !== section.diagnostics { section.diagnostics.note(need) }
    }
}

extension String {
    /// Where the path of a URL begins, or its query, if there is no path.
    fileprivate func range(ofPath separator: String) -> Index {
        var rest = self[...]
        if let scheme = firstRange(of: separator) { rest = self[scheme.upperBound...] }
        return rest.unicodeScalars.firstIndex { $0 == "/" || $0 == "?" } ?? endIndex
    }
}

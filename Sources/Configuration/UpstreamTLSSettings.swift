/// How an upstream is spoken to over TLS: whom to trust, what to expect, and who we are.
public struct UpstreamTLSSettings: Equatable, Sendable {
    /// Whether some certificate of the chain is to be pinned, or all that the upstream sends.
    public enum Match: String, CaseIterable, Sendable {
        /// One of the chain, from the upstream's own up to the authority's.
        case any
        /// Each one that the upstream sends.
        case all
    }

    /// The file of the authorities whose signature makes a certificate good; none for those of the system.
    public let authorities: NamedFile?
    /// The name that the certificate must be for, instead of the host of the URL.
    public let serverName: String?
    /// Pins of public keys: `sha256/` and base64.
    public let pins: [MarkedString]
    /// Files of certificates that are pinned as they are.
    public let certificates: [MarkedString]
    /// How many certificates have to be pinned.
    public let match: Match
    /// The oldest version that is good enough.
    public let minimum: TLSMinimum
    /// Our own certificate and its key, both or none.
    public let identity: TLSIdentitySettings?
    /// Whether anybody's certificate is taken.
    public let isInsecure: Bool

    static let options = [
        .file(
            "ca",
            use: nil,
            example: "/etc/martlet/ca.pem",
            """
            The CA certificates that must have signed the server's certificate: `system`, or a file in PEM. The \
            default is `system`.
            """
        ),
        Option(
            "server_name",
            .string,
            example: "api.example",
            "The name in the certificate and in the TLS handshake (SNI). The default is the host of the URL."
        ),
        Option(
            "pins",
            .strings,
            example: "\"sha256/...\"",
            """
            Public keys, one of which must be in the chain. Write `sha256/` and the base64 of the SHA-256 of the \
            SubjectPublicKeyInfo.
            """
        ),
        Option(
            "certificates",
            .strings,
            file: .read,
            example: "api.pem",
            "Files of certificates in PEM, one of which must be in the chain. A renewed certificate does not match."
        ),
        Option(
            "match",
            .choice(Match.allCases.map(\.rawValue)),
            "`all` requires every certificate that the server sends to match a pin, `any` only one. The default is `any`."
        ),
        TLSMinimum.option,
        .file("client_certificate", example: "client.pem", "The client certificate with its chain, in PEM."),
        .file("client_key", example: "client.key", "The private key of `client_certificate`, in PEM."),
        Option("insecure", .bool, "Accepts any certificate. Use it only for experiments. The default is `false`."),
    ]

    /// Reads how to speak TLS, and reports what does not go together.
    init(_ section: Section) {
        authorities = section.file("ca").flatMap { $0.place == .path("system") ? nil : $0 }
        if case .path(let path)? = authorities?.place, let authorities {
            section.diagnostics.note(SystemNeed(.reads(path), at: authorities.mark))
        }
        serverName = section.string(ifGiven: "server_name")
        pins = section.markedStrings("pins")
        certificates = section.markedStrings("certificates")
        match = Match(rawValue: section.string("match")) ?? .any
        minimum = TLSMinimum(section)
        identity = TLSIdentitySettings(section, certificate: "client_certificate", key: "client_key")
        isInsecure = section.bool("insecure")
        check(section)
    }

    private static func isHost(_ text: String) -> Bool {
        IPAddress(text) != nil || HostPort(text, defaultPort: 443)?.host == text.lowercased()
    }

    private func check(_ section: Section) {
        if let serverName, !Self.isHost(serverName) {
            section.report(
                "\(Diagnostic.quote(serverName)) is not a valid host; write for example server_name: api.example",
                at: "server_name"
            )
        }
        for key in ["ca", "pins", "certificates", "match"] where isInsecure && section.has(key) {
            section.report(
                "\"insecure\" accepts any certificate, so \"\(key)\" has no effect; remove one of them",
                at: key
            )
        }
        // A list that was to be filled in must not turn into no check at all.
        for key in ["pins", "certificates"] { section.reportIfEmpty(key, write: "an item") }
        if section.has("match"), pins.isEmpty, certificates.isEmpty, !isInsecure {
            section.reportUnused("match", without: "pins", "certificates")
        }
        if certificates.isEmpty, pins.count == 1 {
            section.diagnostics.warn(
                "there is only one pin; add the pin of a second key that is kept elsewhere",
                at: pins[0].mark
            )
        }
        if isInsecure {
            let problem = "the certificate of the upstream is not verified"
            section.diagnostics.warn(
                "\(problem); remove \"insecure\" as soon as you can",
                at: section.mark(of: "insecure")
            )
        }
    }
}

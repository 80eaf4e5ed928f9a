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
    public let authorities: MarkedString?
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
        Option(
            "ca",
            .string,
            example: "/etc/martlet/ca.pem",
            "Who must have signed the certificate: system, or a file of certificates in PEM; system if absent."
        ),
        Option(
            "server_name",
            .string,
            example: "api.example",
            "The name that the certificate must be for, and that is asked for (SNI); the host of the URL if absent."
        ),
        Option(
            "pins",
            .strings,
            example: "\"sha256/...\"",
            "Public keys of which one must be in the chain: sha256/ and the base64 of the SHA-256 of the SubjectPublicKeyInfo."
        ),
        Option(
            "certificates",
            .strings,
            example: "api.pem",
            "Files of certificates in PEM of which one must be in the chain; a renewed certificate is another one."
        ),
        Option(
            "match",
            .choice(Match.allCases.map(\.rawValue)),
            "Whether any certificate of the chain must be pinned, or all that the upstream sends; any if absent."
        ),
        TLSMinimum.option,
        Option("client_certificate", .string, example: "client.pem", "Our own certificate, in PEM, with its chain."),
        Option("client_key", .string, example: "client.key", "The private key of client_certificate, in PEM."),
        Option("insecure", .bool, "Whether anybody's certificate is taken: for experiments only; false if absent."),
    ]

    /// Reads how to speak TLS, and reports what does not go together.
    init(_ section: Section) {
        authorities = section.marked("ca").flatMap { $0.text == "system" ? nil : $0 }
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
                "\(Diagnostic.quote(serverName)) is no host; write for example server_name: api.example",
                at: "server_name"
            )
        }
        for key in ["ca", "pins", "certificates", "match"] where isInsecure && section.has(key) {
            section.report("\"insecure\" takes any certificate; remove it, or \"\(key)\"", at: key)
        }
        for key in ["pins", "certificates"] {
            // A list that was to be filled in must not turn into no check at all.
            guard case .sequence([])? = section.node(key)?.content else { continue }
            section.report("\"\(key)\" is empty and pins nothing; add one, or remove it", at: key)
        }
        if section.has("match"), pins.isEmpty, certificates.isEmpty, !isInsecure {
            section.report("\"match\" is for pins; add pins or certificates, or remove it", at: "match")
        }
        if certificates.isEmpty, pins.count == 1 {
            section.diagnostics.warn(
                "there is one pin and no other to fall back on; add that of a key that is kept elsewhere",
                at: pins[0].mark
            )
        }
        if isInsecure {
            let problem = "whoever responds is taken for the upstream"
            section.diagnostics.warn("\(problem); remove insecure as soon as you can", at: section.mark(of: "insecure"))
        }
    }
}

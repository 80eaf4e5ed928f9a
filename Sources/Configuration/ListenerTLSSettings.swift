/// How callers are spoken to over TLS: who we are, and whether they have to say who they are.
///
/// Hashed by what it says, wherever that stands in the file.
public struct ListenerTLSSettings: Hashable, Sendable {
    /// Our certificate and its key.
    public let identity: TLSIdentitySettings
    /// The file of the authorities by whom a caller's certificate must be signed; none does not ask for one.
    public let clientAuthorities: NamedFile?
    /// The oldest version that is good enough.
    public let minimum: TLSMinimum

    /// The files that it names.
    public var files: [NamedFile] { [identity.certificate, identity.key] + (clientAuthorities.map { [$0] } ?? []) }

    static let options = [
        .file(
            "certificate",
            required: true,
            example: "server.pem",
            "The certificate of the listener with its chain, in PEM."
        ),
        .file("key", required: true, example: "server.key", "The private key of the certificate, in PEM."),
        .file(
            "client_ca",
            example: "callers.pem",
            """
            A file of CA certificates in PEM that must have signed the callers' certificates. The default is to \
            ask for none.
            """
        ),
        TLSMinimum.option,
    ]

    /// Reads how to speak TLS; none if a file is missing, which is reported.
    init?(_ section: Section) {
        clientAuthorities = section.file("client_ca")
        minimum = TLSMinimum(section)
        guard let certificate = section.file("certificate"), let key = section.file("key") else { return nil }
        identity = TLSIdentitySettings(certificate: certificate, key: key)
    }
}

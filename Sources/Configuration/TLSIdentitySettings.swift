/// The files of a certificate and its private key.
public struct TLSIdentitySettings: Hashable, Sendable {
    /// The certificate in PEM, with those that vouch for it behind it.
    public let certificate: NamedFile
    /// The private key in PEM.
    public let key: NamedFile

    init(certificate: NamedFile, key: NamedFile) {
        self.certificate = certificate
        self.key = key
    }

    /// Reads both files' options; none if neither is given, and if only one is, which is reported.
    init?(_ section: Section, certificate: String, key: String) {
        let files = (section.file(certificate), section.file(key))
        for (given, missing) in [(certificate, key), (key, certificate)]
        where section.has(given) && !section.has(missing) {
            section.reportUnused(given, without: missing)
        }
        guard let certificate = files.0, let key = files.1 else { return nil }
        self.init(certificate: certificate, key: key)
    }
}

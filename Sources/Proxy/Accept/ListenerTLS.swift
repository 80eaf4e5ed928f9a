package import Configuration
internal import TLS

/// What a listener's settings of TLS came to when their files were read.
package struct ListenerTLS: Equatable, Sendable {
    let context: TLSServerContext
    private let fingerprint: [UInt8]
    /// When the certificate ceases to be good, in seconds since 1970.
    package let expires: Int

    /// Reads the files, and reports what is wrong with them.
    package init?(_ settings: ListenerTLSSettings, into diagnostics: Diagnostics) {
        var files = TLSFiles(into: diagnostics)
        let authorities = settings.clientAuthorities.map { files.authorities($0) }
        guard let identity = files.identity(settings.identity) else { return nil }
        // Something could not be read, and has been reported.
        if case .some(nil) = authorities { return nil }
        do throws(TLSMaterialError) {
            context = try TLSServerContext(
                identity: identity,
                clientAuthorities: authorities.flatMap { $0 },
                minimum: TLSVersion(settings.minimum),
                protocols: ApplicationProtocol.spoken
            )
        } catch {
            files.report(error, settings.identity.certificate)
            return nil
        }
        fingerprint = files.fingerprint
        expires = identity.expires
    }

    /// Whether two come of files that say the same.
    package static func == (left: ListenerTLS, right: ListenerTLS) -> Bool {
        left.fingerprint == right.fingerprint
    }
}

internal import Configuration
internal import Events
internal import TLS

/// What an upstream's settings of TLS came to when their files were read.
struct UpstreamTLS: Equatable, Sendable {
    let context: TLSClientContext
    private let fingerprint: [UInt8]
    /// The state of the system's authorities, where it is they who are trusted.
    private let system: [FileIdentity?]

    /// Reads the files, and reports what is wrong with them.
    init?(_ settings: UpstreamTLSSettings, of url: UpstreamURL, at mark: Mark, into diagnostics: Diagnostics) {
        guard case .tcp(let address) = url.endpoint else { return nil }
        var files = TLSFiles(into: diagnostics)
        var pins: [TLSPin] = []
        for pin in settings.pins {
            do throws(TLSMaterialError) {
                pins.append(try TLSPin(pin.text))
            } catch {
                diagnostics.report("\(Diagnostic.quote(pin.text)): \(error.text)", at: pin.mark)
            }
        }
        for file in settings.certificates { pins += files.pins(file) }
        let listed = settings.authorities.map { files.authorities($0) }
        let identity = settings.identity.map { files.identity($0) }
        // Something could not be read, and has been reported.
        if case .some(nil) = listed { return nil }
        if case .some(nil) = identity { return nil }
        let system = listed == nil && !settings.isInsecure ? SystemTrust.current : nil
        let name = settings.serverName ?? address.host
        var options = TLSClientContext.Options(
            name: name,
            isAddress: IPAddress(name) != nil,
            authorities: settings.isInsecure ? nil : listed.flatMap { $0 } ?? system.map { .system($0.authorities) },
            protocols: ApplicationProtocol.spoken
        )
        options.pins = pins
        options.matchesAllPins = settings.match == .all
        options.minimum = TLSVersion(settings.minimum)
        options.identity = identity.flatMap { $0 }
        do throws(TLSMaterialError) {
            context = try TLSClientContext(options)
        } catch {
            if let file = settings.identity?.certificate {
                files.report(error, file)
            } else {
                diagnostics.report(error.text, at: mark)
            }
            return nil
        }
        fingerprint = files.fingerprint
        self.system = system?.state ?? []
    }

    /// Whether two come of files that say the same.
    static func == (left: UpstreamTLS, right: UpstreamTLS) -> Bool {
        left.fingerprint == right.fingerprint && left.system == right.system
    }
}

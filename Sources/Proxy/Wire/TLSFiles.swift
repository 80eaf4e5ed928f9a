internal import Configuration
internal import Events
internal import TLS
internal import Time

/// Reads the files that settings of TLS name, and reports what is wrong with them at the place that names them.
struct TLSFiles {
    private static let maxSize = 4 << 20

    let diagnostics: Diagnostics
    private var contents: [[UInt8]] = []

    init(into diagnostics: Diagnostics) {
        self.diagnostics = diagnostics
    }

    /// What tells everything that has been read until now from anything else.
    var fingerprint: [UInt8] { TLSDigest.fingerprint(of: contents) }

    /// The authorities of a file.
    mutating func authorities(_ file: NamedFile) -> TLSAuthorities? {
        guard let pem = read(file) else { return nil }
        do throws(TLSMaterialError) {
            return try TLSAuthorities(pem: pem)
        } catch {
            report(error, file)
            return nil
        }
    }

    /// The pins of the certificates of a file.
    mutating func pins(_ file: MarkedString) -> [TLSPin] {
        let file = NamedFile(path: file.text, at: file.mark)
        guard let pem = read(file) else { return [] }
        do throws(TLSMaterialError) {
            return try TLSPin.certificates(pem: pem)
        } catch {
            report(error, file)
            return []
        }
    }

    /// A certificate and its key.
    mutating func identity(_ files: TLSIdentitySettings) -> TLSIdentity? {
        let (certificate, key) = (read(files.certificate), read(files.key))
        guard let certificate, let key else { return nil }
        do throws(TLSIdentity.LoadError) {
            let identity = try TLSIdentity(certificate: certificate, key: key)
            if identity.expires <= Clock.system.wall.secondsAndNanoseconds.seconds {
                let text = "the certificate, or a CA certificate in its chain, has expired"
                diagnostics.warn("\(files.certificate.path): \(text); renew it", at: files.certificate.mark)
            }
            return identity
        } catch {
            switch error {
            case .certificate(let error): report(error, files.certificate)
            case .key(let error): report(error, files.key)
            }
            return nil
        }
    }

    /// Reports what is wrong with a file.
    func report(_ error: TLSMaterialError, _ file: NamedFile) {
        diagnostics.report("\(file.path): \(error.text)", at: file.mark)
    }

    private mutating func read(_ file: NamedFile) -> [UInt8]? {
        let content = file.read(limit: Self.maxSize, into: diagnostics)
        if let content { contents.append(content) }
        return content
    }
}

extension TLSVersion {
    /// The version that settings name.
    init(_ minimum: TLSMinimum) {
        switch minimum {
        case .tls12: self = .tls12
        case .tls13: self = .tls13
        }
    }
}

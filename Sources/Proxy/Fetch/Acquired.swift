public import Configuration
public import Credentials
internal import Events

/// What a configuration names outside of its file: servers with their TLS, and secrets that are needed at load.
///
/// It is read and made once, on the main thread, when the file is checked. The workers of the configuration find it here,
/// so that their calls wait for no file and for no context of TLS.
public final class Acquired: Sendable {
    private let servers = Locked<[UpstreamURL: [FetchServer]]>([:])
    private let secrets = Locked<[Secret: [UInt8]]>([:])

    /// Makes one that has nothing yet.
    public init() {}

    /// The server of these settings; what is wrong with the files that they name is reported.
    public func server(_ settings: UpstreamSettings, into diagnostics: Diagnostics) -> FetchServer {
        servers.withLock { servers in
            if let known = servers[settings.url]?.first(where: { $0.settings == settings }) { return known }
            let new = FetchServer(settings, into: diagnostics)
            // One that lacks something is to be reported wherever it is named.
            if new.isUsable { servers[settings.url, default: []].append(new) }
            return new
        }
    }

    /// The text of a secret that is needed at load; nil if it cannot be had, which is reported.
    public func text(of secret: Secret, _ section: Section) -> [UInt8]? {
        secrets.withLock { secrets in
            if let known = secrets[secret] { return known }
            let new = secret.text(section)
            secrets[secret] = new
            return new
        }
    }
}

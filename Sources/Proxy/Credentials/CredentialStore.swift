internal import Bytes
internal import Credentials
internal import Events

/// The credentials as one worker knows them; what it lacks it requests from their manager.
///
/// Belongs to the worker's thread.
public final class CredentialStore {
    private let loop: EventLoop
    private let send: (CredentialRequest) -> Void
    private var credentials: [CredentialSource: CachedCredential] = [:]
    /// The most slots that are kept of credentials that nobody waits for.
    private static let maxCredentials = 1000

    /// The result of `secrets`, until something changes.
    private var collected: KnownSecrets?

    /// How many interceptors have named one.
    private var namedCount = 0

    /// Makes a store that knows nothing; `send` receives what the manager should do.
    init(on loop: EventLoop, send: @escaping (CredentialRequest) -> Void) {
        self.loop = loop
        self.send = send
    }

    /// Another configuration begins to name credentials; what is known of them stays, unless already the one before did
    /// not name them any more.
    func begin() {
        (namedCount, collected) = (0, nil)
        credentials = credentials.filter { $0.value.naming != .retired || $0.value.isAwaited }
        for credential in credentials.values { credential.naming.unname() }
    }

    /// A call from before is about to ask for a credential that the store has perhaps removed: it gets states again.
    public func adopt(_ credential: CachedCredential) {
        guard credentials[credential.source] == nil else { return }
        credential.missedStates()
        credentials[credential.source] = credential
    }

    /// The cached form of a credential that the configuration names.
    public func credential(named source: CredentialSource) -> CachedCredential {
        namedCount += 1
        collected = nil
        let credential = credential(source)
        credential.naming.name()
        return credential
    }

    /// The cached form of a credential.
    public func credential(_ source: CredentialSource) -> CachedCredential {
        if let known = credentials[source] { return known }
        if credentials.count >= Self.maxCredentials + namedCount {
            credentials = credentials.filter { $0.value.naming == .named || $0.value.isAwaited }
        }
        let credential = CachedCredential(source, on: loop, send: send)
        credentials[source] = credential
        return credential
    }

    /// Takes what is known of a credential now.
    func update(_ source: CredentialSource, _ state: CredentialState) {
        collected = nil
        credentials[source]?.update(state)
    }

    /// The credentials that the configuration names, and its secrets for fetching them.
    ///
    /// Credentials of single callers are left out: there may be many.
    var secrets: KnownSecrets {
        if let collected { return collected }
        var values: [[UInt8]] = []
        for credential in credentials.values where credential.naming != .never {
            values.append(credential.value ?? [])
            for case .value(let secret) in credential.source.secrets { values.append(secret) }
        }
        let secrets = KnownSecrets(configured: values)
        collected = secrets
        return secrets
    }

    /// Takes the token that a file has now, nil if it has none.
    func update(file path: String, _ value: [UInt8]?, deciding rejections: [CredentialRejection]) {
        var state = CredentialState()
        if let value {
            let credential = Credential(value: value, expiry: JWT.expiry(of: value))
            state = CredentialState(credential, at: loop.now, loop.clock.wall)
        }
        state.decided = rejections
        update(.file(path), state)
    }
}

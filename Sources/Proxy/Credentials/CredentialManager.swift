package import Credentials
package import Events
internal import Policy
public import Time

/// Keeps credentials for all workers: each is fetched once, whoever wants it, and anew before it ends.
///
/// Those that the configuration names are fetched at once and kept fresh; others are while calls want them. A fetch that
/// fails is retried with growing pauses, and the credential before is good until its end. Belongs to one thread.
package final class CredentialManager {
    private let loop: EventLoop
    private let fetcher: Fetcher
    private let publish: (CredentialSource, CredentialState) -> Void
    private let log: (LogMessage) -> Void
    private var kept: [CredentialSource: ManagedCredential] = [:]
    private var names: [CredentialSource: [String]] = [:]
    private var random = Xoshiro256()
    private let fetches = FetchTurns(256)
    /// A program costs the machine more than a request.
    private let programs = FetchTurns(32)
    /// The most credentials that are kept, beside those that the configuration names.
    private static let maxCredentials = 1000

    /// Makes a manager without credentials.
    ///
    /// - Parameters:
    ///   - loop: the loop of the thread.
    ///   - fetcher: makes the requests.
    ///   - publish: is told whenever something else is known of a credential.
    ///   - log: receives what the daemon should log.
    package init(
        loop: EventLoop,
        fetcher: Fetcher,
        publish: @escaping (CredentialSource, CredentialState) -> Void,
        log: @escaping (LogMessage) -> Void
    ) {
        self.loop = loop
        self.fetcher = fetcher
        self.publish = publish
        self.log = log
    }

    /// Goes over to the credentials of a configuration: those of before that nobody names are kept while they are wanted.
    package func use(_ credentials: [NamedCredential]) {
        names = [:]
        for named in credentials where named.source.isFetched { names[named.source, default: []].append(named.name) }
        for (source, credential) in kept where names[source] == nil {
            credential.unname()
            // Its secrets are in no file any more; a call that still needs it requests it again.
            if credential.machine.naming == .retired, !credential.machine.isInUse { drop(source, credential) }
        }
        for named in credentials where named.source.isFetched {
            keep(named.source)?.name(refreshAhead: named.refreshAhead)
        }
    }

    /// Fetches nothing any more; programs that run are ended.
    package func end() {
        for credential in kept.values { credential.end() }
        kept = [:]
    }

    /// Does what a worker asks for.
    package func handle(_ request: CredentialRequest) {
        switch request {
        case .fetch(let source) where source.isFetched: keep(source)?.request() ?? turnAway(source)
        case .rejected(let source, let value, let rejection) where source.isFetched:
            keep(source)?.rejected(value, rejection) ?? turnAway(source, deciding: [rejection])
        case .accepted(let source, let upstream): kept[source]?.accepted(by: upstream)
        case .fetch, .rejected: break
        }
    }

    /// What is known of a credential, and what came of its fetches.
    package struct Report {
        /// Where it comes from.
        package let source: CredentialSource
        /// What is known of it.
        package let state: CredentialState
        /// Whether there is one that has not ended.
        package let isValid: Bool
        /// Whether it is being fetched.
        package let isFetching: Bool
        /// How many fetches have brought one.
        package let succeeded: Int
        /// How many have not.
        package let failed: Int
    }

    /// What is known of a credential that is fetched; nil for others.
    package func report(on source: CredentialSource) -> Report? {
        guard let credential = kept[source] else { return nil }
        let state = credential.machine.state
        return Report(
            source: source,
            state: state,
            isValid: state.credential != nil && loop.now < state.expiry,
            isFetching: credential.machine.isFetching,
            succeeded: credential.machine.succeeded,
            failed: credential.machine.failed
        )
    }

    /// There are too many to keep this one, too.
    private func turnAway(_ source: CredentialSource, deciding rejections: [CredentialRejection] = []) {
        var state = CredentialState()
        state.decided = rejections
        state.error = CredentialError("too many tokens are being fetched", isRejection: true)
        state.retry = loop.now + .second
        publish(source, state)
    }

    private func keep(_ source: CredentialSource) -> ManagedCredential? {
        if let known = kept[source] { return known }
        if names[source] == nil, kept.count >= Self.maxCredentials + names.count, !removeOldest() { return nil }
        let name = names[source]?.first ?? source.kind
        let credential = ManagedCredential(
            source,
            loop: loop,
            fetcher: fetcher,
            random: { [unowned self] in random.nextFraction() },
            turns: source.kind == "exec" ? programs : fetches,
            onChange: { [unowned self] state, error in
                publish(source, state)
                guard let error else { return }
                log(LogMessage(text: "no credential", fields: [("credential", name), ("reason", error.text)]))
            }
        )
        kept[source] = credential
        return credential
    }

    /// Lets go of the one that nobody has wanted for the longest time; false if all are in use, or named.
    private func removeOldest() -> Bool {
        let idle = kept.filter { names[$0.key] == nil && !$0.value.machine.isInUse }
        guard let oldest = idle.min(by: { $0.value.machine.lastNeeded < $1.value.machine.lastNeeded }) else {
            return false
        }
        drop(oldest.key, oldest.value)
        return true
    }

    private func drop(_ source: CredentialSource, _ credential: ManagedCredential) {
        kept[source] = nil
        credential.end()
    }
}

/// A credential that the configuration names.
public struct NamedCredential: Sendable {
    /// The name of the interceptor.
    public let name: String
    /// Where it comes from.
    package let source: CredentialSource
    /// How long before its end it is fetched anew.
    let refreshAhead: Duration

    /// Takes a source, the interceptor that names it, and how long before its end it is fetched anew.
    public init(name: String, source: CredentialSource, refreshAhead: Duration) {
        (self.name, self.source, self.refreshAhead) = (name, source, refreshAhead)
    }
}

extension CredentialSource {
    /// The key of the source in the file.
    package var kind: String {
        switch self {
        case .fixed: "value"
        case .file: "file"
        case .exec: "exec"
        case .http(let source): source.kind
        case .jwt: "jwt"
        }
    }
}

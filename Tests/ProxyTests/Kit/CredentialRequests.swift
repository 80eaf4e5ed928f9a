import Bytes
import Events
import Time

@testable import Proxy

/// The orders of a worker, in words: `fetch oauth2`, `rejected oauth2 one`, `accepted oauth2 default`; nobody carries them out but the test.
final class CredentialRequests: @unchecked Sendable {
    private var lines: [String] = []
    /// The source that was ordered last.
    private(set) var source: CredentialSource?

    func note(_ order: CredentialRequest) {
        switch order {
        case .fetch(let source):
            self.source = source
            lines.append("fetch \(source.kind)")
        case .rejected(let source, let value, _):
            self.source = source
            lines.append("rejected \(source.kind) \(value.span.string)")
        case .accepted(let source, let upstream): lines.append("accepted \(source.kind) \(upstream)")
        }
    }

    /// The orders until now; there are none afterwards.
    func drain() -> [String] {
        defer { lines = [] }
        return lines
    }
}

extension ProxyHarness {
    /// Sends the worker a credential, as the manager does: that of the last request.
    ///
    /// - Parameters:
    ///   - value: its value; nil if there is none.
    ///   - lifetime: how long it is good from now on; for ever if absent.
    ///   - refresh: when it is to be fetched anew, from now on.
    ///   - error: why the last fetch has brought none.
    ///   - isSuspect: whether an upstream has rejected it and another is being fetched.
    func deliver(
        _ value: String?,
        lifetime: Duration? = nil,
        refresh: Duration? = nil,
        error: CredentialError? = nil,
        isSuspect: Bool = false
    ) {
        var state = CredentialState()
        let now = Clock.wall
        if let value {
            let credential = Credential(value: Array(value.utf8), expiry: lifetime.map { now + $0 })
            state = CredentialState(credential, at: now)
        }
        state.refresh = refresh.map { now + $0 }
        state.error = error
        state.isSuspect = isSuspect
        if let source = credentialRequests.source { worker.update(source, state) }
        turn()
    }
}

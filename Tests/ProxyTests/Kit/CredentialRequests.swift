import Bytes
import Events
import Time

@testable import Credentials
@testable import Proxy

/// The orders of a worker, in words: `fetch oauth2`, `rejected oauth2 one`, `accepted oauth2 default`; nobody carries them out but the test.
final class CredentialRequests: @unchecked Sendable {
    private var lines: [String] = []
    /// The source that was ordered last.
    private(set) var source: CredentialSource?
    /// The rejections that the test has not decided on.
    private var rejections: [CredentialRejection] = []

    func note(_ order: CredentialRequest) {
        switch order {
        case .fetch(let source):
            self.source = source
            lines.append("fetch \(source.kind)")
        case .rejected(let source, let value, let rejection):
            self.source = source
            rejections.append(rejection)
            lines.append("rejected \(source.kind) \(value.span.string)")
        case .accepted(let source, let upstream): lines.append("accepted \(source.kind) \(upstream)")
        }
    }

    /// The orders until now; there are none afterwards.
    func drain() -> [String] {
        defer { lines = [] }
        return lines
    }

    /// The rejections until now, which are decided on by that.
    func decideRejections() -> [CredentialRejection] {
        defer { rejections = [] }
        return rejections
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
    ///   - isLate: whether it was sent before the manager knew of the rejections.
    func deliver(
        _ value: String?,
        lifetime: Duration? = nil,
        refresh: Duration? = nil,
        error: CredentialError? = nil,
        isSuspect: Bool = false,
        isLate: Bool = false
    ) {
        var state = CredentialState()
        let wall = Clock.system.wall
        if let value {
            let credential = Credential(value: Array(value.utf8), expiry: lifetime.map { wall + $0 })
            state = CredentialState(credential, at: clock.now, wall)
        }
        state.refresh = refresh.map { clock.now + $0 }
        if !isSuspect, !isLate { state.decided = credentialRequests.decideRejections() }
        state.error = error
        state.isSuspect = isSuspect
        if let source = credentialRequests.source { worker.update(source, state) }
        turn()
    }
}

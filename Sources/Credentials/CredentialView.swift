internal import Bytes
internal import TLS
package import Time

/// What one worker knows of a credential: the last state that came from the main thread, and what the worker has asked since.
///
/// Pure: the time comes from outside.
///
/// A rejection is pending from the moment an upstream rejects the value until a state comes that decides on it, or has
/// another value. Every other state was sent before the main thread knew of the rejection, and decides nothing.
package struct CredentialView: Sendable {
    /// What the main thread has sent.
    package private(set) var state = CredentialState()
    /// Counts the values, so that what is made of one can be kept until the next.
    package private(set) var version = 0
    /// Values of before, which calls under way may have.
    private var former: [[UInt8]] = []
    /// The pending rejections of the value.
    private var rejections: [CredentialRejection] = [] {
        didSet { isRejected = !rejections.isEmpty }
    }
    /// Whether a fetch was requested, or the value rejected, since the state came.
    package private(set) var isRequested = false
    /// Whether a rejection of the value is pending.
    package private(set) var isRejected = false
    /// When the value ends; the first instant without a value.
    ///
    /// Stored, as the next one is: each call asks, and a method of another module is given a copy of the whole view.
    package private(set) var goodUntil = Instant.start
    /// From when on another value should be fetched.
    package private(set) var dueFrom = Instant.max

    private static let maxFormer = 4

    /// Makes one of which nothing is known.
    package init() {}

    /// The value, good or not.
    package var value: [UInt8]? { state.credential?.value }

    /// Whether a rejection of the value by this upstream is pending.
    package func isRejected(by upstream: String) -> Bool { rejections.contains { $0.upstream == upstream } }

    /// Whether another value cannot come within `timeout`, since the last fetch has failed.
    package func cannotSucceed(at now: Instant, within timeout: Duration) -> Bool {
        guard let error = state.error else { return false }
        let retry = state.retry ?? (error.isRejection ? .max : .min)
        return retry > (error.isRejection ? now : now.adding(saturating: timeout))
    }

    /// Whether a value is, or was, the one of this credential.
    package func hasBeen(_ value: [UInt8]) -> Bool {
        // The caller may have sent it, to find out.
        ([self.value].compactMap { $0 } + former).contains { ConstantTime.areEqual($0.span, value.span) }
    }

    /// Notes that a fetch is requested; false if one was already.
    package mutating func request() -> Bool {
        defer { isRequested = true }
        return !isRequested
    }

    /// Notes that an upstream has rejected a value.
    ///
    /// - Returns: the rejection to send; nil if there is another value, or one by this upstream is pending.
    package mutating func reject(_ value: [UInt8], by upstream: String) -> CredentialRejection? {
        guard self.value == value, !isRejected(by: upstream) else { return nil }
        let rejection = CredentialRejection(by: upstream)
        rejections.append(rejection)
        isRequested = true
        return rejection
    }

    /// Notes that states may have come that it has not seen: nothing that it has asked is pending any more.
    package mutating func missedStates() {
        rejections = []
        isRequested = false
    }

    /// A state has come from the main thread.
    package mutating func update(_ new: CredentialState) {
        isRequested = false
        if new.credential?.value == value {
            rejections.removeAll { new.decided.contains($0) }
        } else {
            rejections = []
            if let value { former = former.suffix(Self.maxFormer - 1) + [value] }
            version += 1
        }
        state = new
        state.decided = []
        goodUntil = value == nil ? .start : state.usableUntil
        dueFrom = state.refresh ?? .max
    }
}

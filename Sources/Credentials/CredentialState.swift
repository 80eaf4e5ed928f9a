internal import Policy
public import Time

/// Why a credential could not be fetched; it never holds one, or what it was to be made of.
public struct CredentialError: Error, Equatable, Sendable {
    /// The cause in words.
    public let text: String
    /// Whether it has been rejected, so that to wait helps nobody.
    public let isRejection: Bool
    /// How long the server asks to be left alone.
    package let retryAfter: Duration?

    /// Makes an error; `isRejection` says that to wait helps nobody.
    public init(_ text: String, isRejection: Bool = false, retryAfter: Duration? = nil) {
        self.text = text
        self.isRejection = isRejection
        self.retryAfter = retryAfter
    }
}

/// What is known of a credential: the one value that the main thread sends to the workers.
///
/// Its times are of the monotonic clock, which all threads share, so that nobody shortens a lifetime by setting the
/// system clock. Only `credential.expiry` is wall time, for people.
package struct CredentialState: Equatable, Sendable {
    /// The last one that was fetched, unless it is known to be good no more.
    package private(set) var credential: Credential?
    /// When the credential ends; the last instant if nobody has told.
    package private(set) var expiry = Instant.max
    /// Until when the credential is used, which is a little less.
    package private(set) var usableUntil = Instant.max
    /// From when on it should be fetched anew.
    package var refresh: Instant?
    /// When a fetch that has failed is retried.
    package var retry: Instant?
    /// Why the last fetch has brought none, if that is so.
    package var error: CredentialError?
    /// Whether an upstream has rejected the credential and another is being fetched; other upstreams may still accept it.
    package var isSuspect = false
    /// The rejections that are decided by this state: whatever it has is what there is after them.
    package var decided: [CredentialRejection] = []

    /// A credential is used no more when so much of its time is left: it could end on its way.
    static let margin = RefreshSchedule.margin

    /// Nothing is known.
    package init() {}

    /// A credential that has just come, at a time that both clocks tell.
    package init(_ credential: Credential, at now: Instant, _ wall: WallTime) {
        self.credential = credential
        guard let end = credential.expiry else { return }
        let lifetime = end.duration(saturatingSince: wall)
        expiry = now.adding(saturating: lifetime)
        usableUntil = expiry.adding(saturating: -min(Self.margin, lifetime / 10))
    }

    /// Removes the credential, which has ended; what else is known stays.
    mutating func removeCredential() {
        (credential, expiry, usableUntil) = (nil, .max, .max)
    }
}

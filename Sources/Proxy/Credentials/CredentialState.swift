internal import Policy
package import Time

/// Why a credential could not be fetched; it never holds one, or what it was to be made of.
package struct CredentialError: Error, Equatable, Sendable {
    /// The cause in words.
    package let text: String
    /// Whether it has been rejected, so that to wait helps nobody.
    package let isRejection: Bool
    /// How long the server asks to be left alone.
    let retryAfter: Duration?

    init(_ text: String, isRejection: Bool = false, retryAfter: Duration? = nil) {
        self.text = text
        self.isRejection = isRejection
        self.retryAfter = retryAfter
    }
}

/// What is known of a credential; times are wall time.
package struct CredentialState: Equatable, Sendable {
    /// The last one that was fetched, unless it is known to be good no more.
    package var credential: Credential?
    /// When that was.
    package var fetched = WallTime.epoch
    /// From when on it should be fetched anew.
    package var refresh: WallTime?
    /// When a fetch that has failed is retried.
    package var retry: WallTime?
    /// Why the last fetch has brought none, if that is so.
    package var error: CredentialError?
    /// Whether an upstream has rejected the credential and another is being fetched; other upstreams may still accept it.
    package var isSuspect = false

    /// A credential is used no more when so much of its time is left: it could end on its way.
    static let margin = RefreshSchedule.margin

    /// Until when the credential is used; without an end if it has none.
    var usableUntil: WallTime {
        guard let expiry = credential?.expiry else { return .max }
        let lifetime = fetched > .epoch ? expiry.duration(saturatingSince: fetched) : .max
        return expiry.adding(saturating: -min(Self.margin, lifetime / 10))
    }

    /// Nothing is known.
    package init() {}

    /// A credential that has just come.
    package init(_ credential: Credential, at time: WallTime) {
        self.credential = credential
        fetched = time
    }
}

/// What workers ask of the manager of credentials.
package enum CredentialRequest: Sendable {
    /// A call needs it, or soon will.
    case fetch(CredentialSource)
    /// The upstream of this name has rejected this value of it.
    case rejected(CredentialSource, value: [UInt8], by: String)
    /// The upstream of this name has accepted a value that was fetched since it rejected the one before.
    case accepted(CredentialSource, by: String)
}

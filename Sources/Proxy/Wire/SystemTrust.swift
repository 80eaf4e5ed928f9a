internal import Events
internal import TLS

/// The authorities that the system trusts, read once for the process, and again when their files have changed.
struct SystemTrust {
    let authorities: TLSAuthorities.System
    /// The state of their files.
    let state: [FileIdentity?]

    private static let latest = Locked<SystemTrust?>(nil)

    /// What the system trusts now; safe on any thread, but the first to ask waits until the files are read.
    static var current: SystemTrust {
        latest.withLock { latest in
            let state = TLSAuthorities.systemLocations.map { FileIdentity(of: $0) }
            if let latest, latest.state == state { return latest }
            let new = SystemTrust(authorities: TLSAuthorities.System(), state: state)
            latest = new
            return new
        }
    }
}

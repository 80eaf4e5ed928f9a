internal import Time

/// When the steps were over in which a connection to an upstream was made.
///
/// A step that was not needed is over when the one before it is.
struct ConnectionTimes {
    /// When the making of the connection began.
    var began: Instant
    /// When the addresses behind the name of the upstream were known.
    var resolved: Instant
    /// When the transport, TCP or a Unix socket, was connected.
    var connected: Instant
    /// When the TLS handshake was over.
    var secured: Instant
    /// When the peer had shown that it speaks the version of HTTP.
    var ready: Instant

    /// Begins with the name.
    init(at now: Instant) {
        (began, resolved, connected, secured, ready) = (now, now, now, now, now)
    }

    /// The connection could not be made: the step that was under way has taken the rest of the time.
    mutating func failed(at now: Instant, isResolved: Bool) {
        if !isResolved { resolved = now }
        if connected <= resolved { connected = now }
        (secured, ready) = (now, now)
    }

    /// How much of each step lies between two times: what an attempt has waited for.
    ///
    /// Nothing does of a connection that was there before the attempt.
    func steps(from start: Instant, to end: Instant) -> Steps {
        func part(_ first: Instant, _ last: Instant) -> Duration { max(.zero, min(last, end) - max(first, start)) }
        return Steps(
            dns: part(began, resolved),
            tcp: part(resolved, connected),
            tls: part(connected, secured),
            http2: part(secured, ready)
        )
    }

    /// How long each step took.
    struct Steps: Equatable {
        /// The name of the upstream was looked up.
        var dns = Duration.zero
        /// The transport was connected.
        var tcp = Duration.zero
        /// The TLS handshake was made.
        var tls = Duration.zero
        /// The peer had not said yet that it speaks HTTP/2.
        var http2 = Duration.zero
    }
}

internal import Bytes
internal import Events
internal import HTTP
internal import Time

/// The end of exchanges whose caller neither sends nor reads.
extension CallerConnection {
    /// Ends what has stalled for longer than the listener allows.
    ///
    /// - Returns: Whether the connection has a call, or bytes to send.
    func endStalled(at now: Instant) -> Bool {
        guard let wire, !isEnding else { return false }
        if let limit = service.unreadTimeout {
            guard wire.lastWritten > now - limit else {
                endUnread()
                return false
            }
            session?.endStalled(since: now - limit)
        }
        if let limit = service.bodyTimeout { endBodies(waitingSince: now - limit, at: now) }
        return session?.isBusy == true || !wire.output.isEmpty
    }

    /// Ends the connection, since its caller reads nothing.
    private func endUnread() {
        session?.forEachExchange { _, user in user?.wentUnread() }
        if version == .http2 { service.exceeded(.slowReader, by: peer) } else { service.stalled(peer) }
        wire?.abort()
    }

    private func endBodies(waitingSince time: Instant, at now: Instant) {
        guard let session else { return }
        var stalled: [any HTTPStream] = []
        session.forEachExchange { stream, user in
            if let user, user.bodyWaitsSince(at: now) <= time { stalled.append(stream) }
        }
        for stream in stalled { session.timeOutBody(of: stream) }
    }
}

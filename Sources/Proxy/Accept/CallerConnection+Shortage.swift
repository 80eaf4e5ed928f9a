internal import Bytes
internal import Events
internal import HTTP

/// What a connection gives up when descriptors or memory run short.
extension CallerConnection {
    /// Whether nothing has come yet, and the first request may be on its way, or the handshake of TLS.
    var isNew: Bool { version == nil && context.loop.now - idleSince < Self.goodbyeTime }

    /// Closes the connection if it is idle, since its descriptor is needed.
    ///
    /// - Parameter atOnce: whether an HTTP/2 caller is told, but not waited for.
    /// - Returns: false if a call has come, or the connection is closing anyway.
    func closeIfIdle(atOnce: Bool) -> Bool {
        wire?.readable()
        guard isIdle, let wire else { return false }
        isEvicted = true
        acceptor.evicts()
        if version != .http2, wire.output.isEmpty {
            wire.close()
        } else {
            sayGoodbye()
            if atOnce { wire.flushAndClose() }
        }
        return true
    }

    /// The calls that hold bytes nobody has taken any of since `time`.
    func stalledCalls(since time: Nanoseconds) -> [StalledCall] {
        var calls: [StalledCall] = []
        session?.forEachExchange { stream, user in
            guard stream.isStalled(since: time) || user?.isStalled(since: time) == true else { return }
            let bytes = stream.heldBytes + (user?.heldBytes ?? 0) + (version == .http1 ? wire?.heldInput ?? 0 : 0)
            calls.append(StalledCall(bytes: bytes, stream: stream, user: user, connection: self))
        }
        return calls
    }

    /// Ends an exchange, since memory is short.
    func shed(_ stream: any HTTPStream, _ user: (any HTTPStreamUser)?) {
        if let user { return user.shed() }
        // Its response is complete, and waits to be taken.
        if version == .http1 { wire?.abort() } else { stream.reset(.code(.enhanceYourCalm)) }
    }
}

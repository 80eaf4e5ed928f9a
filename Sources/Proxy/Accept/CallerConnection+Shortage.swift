internal import Bytes
internal import Events
internal import HTTP
internal import Time

/// What a connection gives up when descriptors or memory run short.
extension CallerConnection {
    /// Whether nothing has come yet, and the first request may be on its way, or the handshake of TLS.
    var isNew: Bool { version == nil && context.loop.now - idleSince < Self.shutdownTime }

    /// Whether the connection has a call with a user, or sends the end of one.
    var servesCall: Bool {
        var serves = isEnding
        session?.forEachExchange { _, user in if user != nil { serves = true } }
        return serves
    }

    /// Closes the connection unless it has a call, whatever has come of the next head, since its memory is needed.
    ///
    /// - Returns: false if a call has come, or the connection is closing anyway.
    func closeWithoutCall() -> Bool {
        guard !closeIfIdle(atOnce: true) else { return true }
        guard let wire, !servesCall, !isEvicted else { return false }
        isEvicted = true
        acceptor.evicts()
        wire.abort()
        return true
    }

    /// Closes the connection if its TLS handshake or its next head is still unfinished, since its memory is needed.
    ///
    /// - Returns: false if it is not, or the connection is closing anyway.
    func closeIfUnfinished() -> Bool {
        wire?.readable()
        return unfinishedSince != nil && closeWithoutCall()
    }

    /// The bytes that the connection is known to hold, its calls aside: its share, and its tables by the count of HPACK.
    var size: Int { share.bytes + ((session as? HTTP2ServerSession)?.tableSize ?? 0) }

    /// Whether none of the calls has moved for a second, as far as earlier calls of this function have noted.
    func isSilent(at now: Instant) -> Bool {
        var isSilent = true
        session?.forEachExchange { _, user in
            guard let user else { return }
            let since = (user as? Call)?.stall(at: now)?.since ?? .max
            if since > now - .second { isSilent = false }
        }
        return isSilent
    }

    /// Ends the calls with an error and then the connection, since connections hold the memory of calls.
    ///
    /// - Returns: the number of calls, or `nil` if the connection is closing anyway.
    func endCalls() -> Int? {
        guard wire != nil, !isEvicted else { return nil }
        isEvicted = true
        acceptor.evicts()
        var users: [any HTTPStreamUser] = []
        session?.forEachExchange { _, user in if let user { users.append(user) } }
        for user in users { user.shed() }
        // Asked again, HTTP/2 says its last word.
        for _ in 0..<2 where wire != nil { shutDown() }
        wire?.flushAndClose()
        return users.count
    }

    /// Closes the connection if it is idle, since its descriptor or its memory is needed.
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
            shutDown()
            guard atOnce else { return true }
            // Asked again, HTTP/2 says its last word.
            shutDown()
            wire.flushAndClose()
        }
        return true
    }

    /// What holds bytes of which nobody has taken any for `patience`: the connection, if its caller does not read, or else
    /// calls.
    func stalled(for patience: Duration, at now: Instant) -> [StalledCall] {
        guard let wire else { return [] }
        let time = now - patience
        guard wire.lastWritten > time else { return [wholeConnection(wire, at: now)] }
        var calls: [StalledCall] = []
        session?.forEachExchange { stream, user in
            let since = max(.start, min(stream.waitsSince, user?.waitsSince ?? .max))
            guard since <= time else { return }
            let bytes = held(by: stream, user) + (version == .http1 ? wire.heldInput : 0)
            guard bytes > (user == nil ? 0 : Call.size) else { return }
            let memory = StalledMemory(bytes: bytes, time: now - since)
            calls.append(StalledCall(memory, connection: self, exchange: (stream, user)))
        }
        return calls
    }

    /// All that the connection holds: it waits behind an output that the caller does not read.
    private func wholeConnection(_ wire: Wire, at now: Instant) -> StalledCall {
        var bytes = wire.output.capacity + wire.heldInput
        session?.forEachExchange { stream, user in bytes += held(by: stream, user) }
        return StalledCall(StalledMemory(bytes: bytes, time: now - wire.lastWritten), connection: self)
    }

    private func held(by stream: any HTTPStream, _ user: (any HTTPStreamUser)?) -> Int {
        // A stream of HTTP/1.1 holds what its wire does.
        (version == .http1 ? 0 : stream.heldBytes) + (user?.heldBytes ?? 0)
    }

    /// Ends one exchange, or the connection and all exchanges on it, since memory is short.
    ///
    /// - Returns: how many calls ended, or 1 for a response that was complete.
    func shed(_ exchange: StalledCall.Exchange?) -> Int {
        guard exchange == nil else {
            if let user = exchange?.user { user.shed() } else { exchange?.stream.reset(.code(.enhanceYourCalm)) }
            // The output of a response that was broken off is the memory that is needed.
            if let wire, wire.endsInReset { wire.abort() }
            return 1
        }
        var calls = 0
        session?.forEachExchange { _, user in
            guard let user else { return }
            calls += 1
            user.shed()
        }
        wire?.abort()
        return max(1, calls)
    }

    /// Has calls release what they keep only for the case that something goes wrong.
    func releaseSpares() {
        session?.forEachExchange { _, user in user?.releaseSpares() }
    }
}

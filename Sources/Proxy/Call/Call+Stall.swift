internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
package import Time
internal import Types

/// How long a call has not moved, and what it waits for.
struct Stall {
    enum Reason {
        /// The caller sends nothing of a body that it owes.
        case requestBody
        /// The caller reads nothing of the response.
        case response
        /// The call has no connection to its upstream.
        case connection
        /// Nothing passes either way, which streams of messages are free to do.
        case silence
    }

    let reason: Reason
    let since: Instant
    /// Whether nothing has come since Martlet held the body back.
    var wasHeldBack = false

    /// Whether the call has not moved for longer than `patience`, or `shortPatience` after its body was held back.
    func isLonger(than patience: Duration, _ shortPatience: Duration, at now: Instant) -> Bool {
        since <= now - (wasHeldBack ? shortPatience : patience)
    }
}

extension Call {
    package func bodyWaitsSince(at now: Instant) -> Instant { bodyWaitsSince(at: now, bytes: record.requestBytes) }

    /// Likewise, where `bytes` of the body have come.
    func bodyWaitsSince(at now: Instant, bytes: Int) -> Instant {
        guard owesBody else { return .max }
        guard isReadingBody else {
            movement.restart(at: now)
            return .max
        }
        movement.note(bytes, at: now)
        return movement.since
    }

    /// Whether the caller has to send the rest of the body without a long pause.
    ///
    /// A stream of messages may be silent, and so may a body of plain HTTP whose length nobody knows, once it is responded
    /// to.
    private var owesBody: Bool {
        guard !isOver, !flows.request.hasArrived else { return false }
        if received.contentLength != nil || callerLeg.rest != nil || rpcProtocol.isUnaryConnect { return true }
        if rpcProtocol == .http { return !response.headSent }
        guard let types = generation.types else { return false }
        let request = request
        return types.set.method(path: request.path)?.requestStreams == false
    }

    /// Whether it is up to the caller to send more.
    private var isReadingBody: Bool {
        let stream = callerLeg.stream
        guard !stream.isPaused else { return false }
        return stream.hasContinued || record.requestBytes > 0 || !received.expectsContinue
    }

    /// Whether the whole request has arrived, although parts of it may wait to be read.
    var hasArrivedWhole: Bool { flows.request.hasArrived || callerLeg.stream.holdsEnd }

    package func wentUnread() {
        guard !isOver else { return }
        record.message = Array("the caller has read nothing of the response for timeouts.stalled".utf8)
        finish(code: .deadlineExceeded, by: .martlet)
    }

    /// What the call waits for, as far as others make it wait; nil if it moves.
    func stall(at now: Instant) -> Stall? {
        let unread = callerLeg.stream.waitsSince
        if unread != .max { return Stall(reason: .response, since: unread) }
        // What a REST path has sent is known to its reader alone, which notes it.
        let isNoted = callerLeg.rest != nil && owesBody && isReadingBody
        let body = isNoted ? movement.since : bodyWaitsSince(at: now)
        if body != .max { return Stall(reason: .requestBody, since: body, wasHeldBack: movement.wasHeldBack) }
        if connectingSince != .max { return Stall(reason: .connection, since: connectingSince) }
        guard rpcProtocol.hasEnvelopes || response.headSent else { return nil }
        movement.note(record.requestBytes + record.responseBytes, at: now)
        return Stall(reason: .silence, since: movement.since)
    }
}

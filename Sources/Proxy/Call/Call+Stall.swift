internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import RPC
package import Time
internal import Types

/// The reason why a call does not move, and the time since when.
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

    /// The time after which the call makes room for another one.
    enum Patience {
        /// The usual time.
        case usual
        /// Less: the call has waited for its connection, and its caller, on this machine, has sent nothing since.
        case short
        /// More: the upstream has the whole request, and may be at work on it.
        case long

        var duration: Duration {
            switch self {
            case .usual: 500 * .millisecond
            case .short: 100 * .millisecond
            case .long: 5 * .second
            }
        }
    }

    let reason: Reason
    let since: Instant
    var patience = Patience.usual

    /// Whether the call has not moved for so long that it makes room for another one.
    func makesRoom(at now: Instant) -> Bool { since <= now - patience.duration }
}

extension Call {
    package func bodyWaitsSince(at now: Instant) -> Instant {
        guard owesBody else { return .max }
        guard isReadingBody else {
            movement.restart(at: now, waitsForConnection: !upstreamLeg.isConnected)
            return .max
        }
        movement.note(receivedBytes, at: now)
        return movement.since
    }

    /// The bytes of the request body that have come.
    private var receivedBytes: Int {
        guard callerLeg.rest != nil else { return record.requestBytes }
        return (callerLeg.stream as? RESTResponseStream)?.requestBytes ?? 0
    }

    /// Whether the caller has to send the rest of the body without a long pause.
    ///
    /// A stream of messages may be silent, and so may a body of plain HTTP of unknown length, once the response has begun.
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

    /// Returns what the call waits for, as far as others make it wait, or `nil` if it moves.
    func stall(at now: Instant) -> Stall? {
        let unread = callerLeg.stream.waitsSince
        if unread != .max { return Stall(reason: .response, since: unread) }
        let body = bodyWaitsSince(at: now)
        if body != .max {
            let isProbed = movement.hasWaited && (peer.credentials != nil || peer.isOnThisMachine)
            return Stall(reason: .requestBody, since: body, patience: isProbed ? .short : .usual)
        }
        if connectingSince != .max { return Stall(reason: .connection, since: connectingSince) }
        guard rpcProtocol.hasEnvelopes || response.headSent else { return nil }
        movement.note(record.requestBytes + record.responseBytes, at: now)
        let isAtWork = hasArrivedWhole && !response.headSent
        return Stall(reason: .silence, since: movement.since, patience: isAtWork ? .long : .usual)
    }
}

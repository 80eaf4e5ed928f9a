internal import Bytes
public import RPC

/// The way of the response to a call that is served in this process.
///
/// Belongs to the worker's thread. Once the response has ended, or the call is over, nothing is sent any more.
public struct LocalExchange {
    private let stream: LocalStream

    init(_ stream: LocalStream) {
        self.stream = stream
    }

    /// The call.
    public var call: Call { stream.call }

    /// Whether nothing can be sent any more.
    public var isOver: Bool { stream.isOver }

    /// Whether what is sent reaches the caller as it stands, in its own protocol.
    public var isRaw: Bool { stream.call.upstreamLeg.isServedRaw }

    /// How many bytes a message may have, as `limits.held_message` says.
    public var messageLimit: Int { stream.call.callerLeg.listener.heldMessageLimit }

    /// Whether the caller takes no more for now.
    public var isPaused: Bool { stream.isPaused }

    /// Has what has come given to the service, since that wants more.
    public func schedule() { stream.schedule() }

    /// Sends an interim response (1xx), unless the head of the response has been sent.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: Fields with names in small letters.
    public func send(interim status: Int, headers: [(name: [UInt8], value: [UInt8])]) {
        stream.send(interim: status, headers: headers)
    }

    /// Sends the head of a response, which is a success in plain HTTP; what is sent next does so otherwise.
    ///
    /// - Parameter headers: fields with names in small letters.
    public func send(headers: [(name: [UInt8], value: [UInt8])]) { stream.send(headers: headers) }

    /// Sends a message, in the codec of the call; in plain HTTP it is a part of the body.
    public func send(_ message: Span<UInt8>) { stream.send(message) }

    /// Sends the head of a response as it stands; for plain HTTP, and for upstreams whose calls are not translated.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - headers: fields with names in small letters.
    public func send(status: Int, headers: [(name: [UInt8], value: [UInt8])]) {
        stream.send(status: status, headers: headers)
    }

    /// Sends bytes of the body as they stand, behind such a head.
    public func send(bytes: Span<UInt8>) { stream.send(bytes: bytes) }

    /// Ends the response behind such a head, with trailers as they stand.
    public func end(trailers: [(name: [UInt8], value: [UInt8])]) { stream.end(trailers: trailers) }

    /// Lets what is sent from now on take its time, as on a slow network.
    public func slowDown(to bytesPerSecond: Int) { stream.slowDown(to: bytesPerSecond) }

    /// Ends the response, with an error or with success; one of plain HTTP that has begun breaks off with an error.
    public func end(_ error: RPCError?, trailers: [(name: [UInt8], value: [UInt8])] = []) {
        stream.end(error, trailers: trailers)
    }

    /// Sends a whole response of plain HTTP.
    public func respond(status: Int, headers: [(name: [UInt8], value: [UInt8])], body: Span<UInt8>) {
        stream.respond(status: status, headers: headers, body: body)
    }

    /// Ends the exchange as an upstream would do that is not there, or goes away.
    public func fail(_ error: UpstreamError) { stream.fail(error) }
}

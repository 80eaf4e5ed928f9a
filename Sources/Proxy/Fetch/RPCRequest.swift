package import Protocols
package import RPC
package import Time

/// A call that a command makes.
package struct RPCRequest {
    /// What is spoken.
    package var rpcProtocol: RPCProtocol
    /// How messages are written.
    package var codec: Codec
    /// The path, as `/pkg.Service/Method`.
    package var path: [UInt8]
    /// The host that is named; none is that of the server.
    package var authority: [UInt8]?
    /// The headers, whose names are in small letters.
    package var headers: [(name: String, value: String)]
    /// The messages, all of which are sent at once.
    package var messages: [[UInt8]]
    /// How long all of it may take, and what the server is told of that; none is without end.
    package var timeout: Duration?
    /// Whether the response is to have one message, and no more.
    package var expectsOneMessage = false

    /// Describes a call.
    package init(
        _ rpcProtocol: RPCProtocol,
        _ codec: Codec,
        path: [UInt8],
        authority: [UInt8]? = nil,
        headers: [(name: String, value: String)] = [],
        messages: [[UInt8]],
        timeout: Duration? = nil
    ) {
        (self.rpcProtocol, self.codec, self.path, self.authority) = (rpcProtocol, codec, path, authority)
        (self.headers, self.messages, self.timeout) = (headers, messages, timeout)
    }
}

/// How a call of a command has ended.
package enum RPCResult {
    /// No connection could be made.
    case unreachable(String)
    /// The server has responded.
    case response(status: Int, error: RPCError?, trailers: [(name: [UInt8], value: [UInt8])])
    /// There was a connection, and no whole response on it.
    case failed(String)
}

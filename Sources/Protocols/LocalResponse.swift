/// A response Martlet gives by itself, complete but for the framing of HTTP.
///
/// The names of fields are in lower case; `content-length` is not among them. Without a body and trailers, the head
/// ends the stream.
public struct LocalResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The header fields, in order.
    public var headers: [(name: [UInt8], value: [UInt8])]
    /// The body.
    public var body: [UInt8]
    /// The trailer fields; only a message in gRPC has any.
    public var trailers: [(name: [UInt8], value: [UInt8])]

    /// Whether it responds to one message, so that the request has to have come whole before it is known to be in order.
    public var respondsToOneMessage = false

    /// Puts a response together.
    public init(
        status: Int,
        headers: [(name: [UInt8], value: [UInt8])],
        body: [UInt8],
        trailers: [(name: [UInt8], value: [UInt8])] = []
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.trailers = trailers
    }

    init(status: Int = 200, contentType: [UInt8], body: [UInt8] = []) {
        self.init(status: status, headers: [(Array("content-type".utf8), contentType)], body: body)
    }
}

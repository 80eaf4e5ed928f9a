public import HTTP

/// A response that an interceptor has kept, and gives to another call.
///
/// Good until the hook returns, which gives its heads to the engine. Belongs to the worker's thread.
public struct StoredResponse {
    /// The head, whose `contentLength` says how long the body is.
    public let head: HTTPHead
    /// What the body is a part of.
    public let bytes: [UInt8]
    /// Where the body lies in that.
    public let range: Range<Int>
    /// The trailers; none if there are none.
    public let trailers: HTTPHead?

    /// Puts a response together.
    ///
    /// - Parameters:
    ///   - head: the head, from `Call.makeHead`.
    ///   - bytes: what the body is a part of; shared with all who keep it.
    ///   - range: where the body lies; nil is all of it.
    ///   - trailers: the trailers, from `Call.makeHead`.
    public init(_ head: HTTPHead, _ bytes: [UInt8], _ range: Range<Int>? = nil, trailers: HTTPHead? = nil) {
        let range = range ?? 0..<bytes.count
        (self.head, self.bytes, self.range, self.trailers) = (head, bytes, range, trailers)
        let hasBody = !range.isEmpty && trailers == nil
        head.contentLength = hasBody ? range.count : head.contentLength
    }
}

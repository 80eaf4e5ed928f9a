/// How much of a peer is taken in before it is rejected; one object for all connections that were accepted under it.
public final class HTTPLimits: Sendable {
    /// The most bytes of a head, or of a trailer section.
    public let head: Int
    /// The most fields of a head, or of a trailer section.
    public let fields: Int
    /// The bytes in the heads of all streams of one HTTP/2 connection from which on no other stream is taken in.
    public let heads: Int
    /// The most bytes of a request body that are read and thrown away after the response, to keep the connection.
    public let discard: Int
    /// The most exchanges at once on one HTTP/2 connection.
    public let streams: Int
    /// How many streams of one HTTP/2 connection may be reset in a burst; a 30th of it per second after that.
    public let resets: Int

    /// The maximum number of bytes of a head that is read only to reject it; a larger one ends its HTTP/2 connection.
    var rejectedHead: Int { max(16 * head, 2 * 1024 * 1024) }

    /// The maximum number of CONTINUATION frames of a head: as many as the largest one that is read needs, with room for frames
    /// that are not full.
    var continuations: Int {
        let full = rejectedHead / (16 * 1024)
        return full + full / 4 + 8
    }

    /// Sets the limits.
    public init(
        head: Int = 64 * 1024,
        fields: Int = 200,
        heads: Int = 4 * 1024 * 1024,
        discard: Int = 256 * 1024,
        streams: Int = 1000,
        resets: Int = 1000
    ) {
        self.head = head
        self.fields = fields
        self.heads = heads
        self.discard = discard
        self.streams = streams
        self.resets = resets
    }
}

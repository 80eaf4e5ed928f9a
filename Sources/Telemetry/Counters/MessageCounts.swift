/// How many messages a call had, or several calls together.
public struct MessageCounts: Equatable, Sendable {
    /// The messages that came from the caller.
    public var received: Int
    /// The messages that went to the caller.
    public var sent: Int

    /// Counts the messages of a call.
    public init(received: Int = 0, sent: Int = 0) {
        self.received = received
        self.sent = sent
    }

    static func &+= (left: inout MessageCounts, right: MessageCounts) {
        left.received &+= right.received
        left.sent &+= right.sent
    }
}

internal import Bytes

/// What becomes of one message on its way through the chain.
///
/// Belongs to the worker's thread, and to one message: good until the hook returns, or, if that suspends, until the
/// suspension is resumed.
public final class Message {
    /// Its number in its direction, from 1.
    public internal(set) var number = 0
    /// The bytes of the message where it is not what has arrived: changed, or held.
    let bytes: ByteQueue
    /// Whether the bytes are other than those that arrived.
    private(set) var isChanged = false
    /// Whether the message goes no further.
    private(set) var isDropped = false
    /// Messages to go on behind this one.
    private(set) var added: [[UInt8]] = []
    /// Whether the messages are bare, so that there is just one.
    let isBare: Bool

    init(isBare: Bool, _ pool: BufferPool) {
        self.isBare = isBare
        bytes = ByteQueue(pool: pool)
    }

    /// Reads the message as it is now, once it has been replaced or suspended; what a hook is called with is its parameter.
    public func withPayload<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let bytes = bytes
        return body(bytes.readable)
    }

    /// Replaces the message; lengths and compression are made to fit.
    public func replace(with payload: Span<UInt8>) {
        bytes.removeAll()
        bytes.append(payload)
        isChanged = true
    }

    /// Lets the message go no further.
    ///
    /// A bare one becomes an empty one: its body cannot be without a message.
    public func drop() {
        isDropped = true
    }

    /// Lets `payload` go on as a message of its own behind this one, to the interceptors that follow.
    ///
    /// - Returns: false where messages are bare, which come alone.
    @discardableResult
    public func add(_ payload: Span<UInt8>) -> Bool {
        guard !isBare else { return false }
        added.append(payload.array)
        return true
    }
}

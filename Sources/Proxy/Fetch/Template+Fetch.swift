internal import Bytes

extension Template {
    /// Whether a part of the value comes from a call.
    public var requiresCall: Bool { constant == nil }

    /// The value for a call; for none, what is the same for all.
    public func value(for call: Call?) -> [UInt8] {
        guard let call else { return Array(texts.joined()) }
        let queue = ByteQueue()
        render(for: call, to: queue)
        return queue.readable.array
    }
}

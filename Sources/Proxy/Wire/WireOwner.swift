internal import Bytes

/// The owner of a wire.
protocol WireOwner: AnyObject {
    /// Bytes have arrived; the owner says how many it could use. The rest is given again with what follows it.
    func wireReceived(_ bytes: Span<UInt8>) -> Int
    /// Whether the bytes that the owner leaves could be used, but later; else they are not whole yet.
    var isHoldingBack: Bool { get }
    /// The peer sends no more; `errno` says why, if it was not in order.
    func wireEnded(errno: Int32?)
    /// The output is about to be sent, once a turn.
    func wireWillSend()
    /// All output has been taken, after some of it had to wait.
    func wireDrained()
    /// Whether there is no sense in going on without the peer, however much of what it has sent is still to be read.
    var needsPeer: Bool { get }
    /// A connect has finished; `errno` is 0 if it went well.
    func wireConnected(errno: Int32)
    /// The wire is closed, by either side.
    func wireClosed()
}

/// Something in this process that serves calls in an upstream's place, as one worker has it.
///
/// Metrics and logs know it by its name, as they know upstreams. It speaks gRPC, with messages in the codec of the caller:
/// calls in other protocols are translated to that. Plain HTTP stays what it is. Belongs to the worker's thread.
public final class LocalUpstream {
    /// Begins to serve a call: what it returns is told what comes, and responds by the exchange.
    public typealias Opening = (LocalExchange) -> any LocalService

    let upstream: Upstream
    /// Whether calls are translated to gRPC for it.
    let translates: Bool

    init(_ upstream: Upstream, translates: Bool) {
        (self.upstream, self.translates) = (upstream, translates)
    }
}

/// What serves one call, and is told what comes of its request.
///
/// All of it happens on the worker's thread, at the end of a turn of its loop.
public protocol LocalService: AnyObject {
    /// The request has begun; told before anything else.
    func opened()
    /// Whether the next message may be given; those behind it wait, and then the caller.
    var wantsMessage: Bool { get }
    /// A message has come, decompressed, in the codec of the call; the whole body in plain HTTP.
    func received(_ message: Span<UInt8>)
    /// The request is complete.
    func receivedEnd()
    /// Whether the service receives the rest of the request after its response has ended.
    var readsOn: Bool { get }
    /// The caller takes more again.
    func resumed()
    /// The exchange is over, be it by the end of the response or before; nothing is sent any more.
    func ended()
    /// How many bytes of messages it holds.
    var heldBytes: Int { get }
}

extension LocalService {
    public var heldBytes: Int { 0 }
    public var readsOn: Bool { false }
}

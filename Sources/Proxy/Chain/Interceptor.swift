public import HTTP
public import Protocols

/// One link of a chain, as one worker has it.
///
/// ```
/// requestHead → requestMessage … → requestEnd → upstream
/// finished ← responseEnd ← responseMessage … ← responseHead ←
/// ```
///
/// Each hook is called if the `events` of its plan ask for it. All of a call runs on one thread, its worker's, one hook at
/// a time. Request hooks run first to last, response hooks and `finished` last to first. Hooks must be quick: one that has
/// to wait returns `suspend`. What follows is still handed to the same interceptor at once, and leaves it in order.
///
/// An interceptor that rejects a request is the last one that sees it. `finished` runs exactly once for every call that
/// came to the interceptor, whatever became of it.
public protocol Interceptor: AnyObject {
    /// What it keeps for one call: `call[stateOf: self]`.
    associatedtype CallState = Never

    /// Returns the size of the largest message for which the hooks ask for ``Message/json(_:_:)``.
    ///
    /// A message of 128 KiB or more is read on another thread then, before they get it.
    ///
    /// - Parameters:
    ///   - message: A message of at least 128 KiB.
    ///   - call: The call.
    /// - Returns: A number of bytes; 0 if the hooks do not read the message as JSON.
    func maxJSON(of message: Message, _ call: Call) -> Int
    /// The head of the request has come; `call.request` may be changed.
    func requestHead(_ call: Call) -> Verdict
    /// A message of the request has come. Rejecting it ends the call.
    ///
    /// `payload` is the message, decompressed, good until the hook returns; `message` changes it.
    func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict
    /// The request is complete.
    func requestEnd(_ call: Call) -> Verdict
    /// Called when an interim response (1xx) of the upstream passes, which cannot be changed.
    func interimHead(_ head: HTTPHead, _ call: Call)
    /// The head of the response has come; it may be changed.
    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict
    /// A message of the response has come, likewise. Rejecting it ends the response there: messages before it have gone out.
    func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict
    /// The response is complete, or has failed; code, error and trailers may be changed.
    func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict
    /// Bytes of a body in plain HTTP have left the chain; they cannot be changed.
    func plainBytes(_ bytes: Span<UInt8>, _ direction: Direction, _ call: Call)
    /// Bytes of the body of a response pass, as the caller would get them; they cannot be changed.
    func responseBytes(_ bytes: Span<UInt8>, _ call: Call)
    /// The call is over; its record is complete.
    func finished(_ call: Call)
}

extension Interceptor {
    public func maxJSON(of message: Message, _ call: Call) -> Int { 0 }
    public func requestHead(_ call: Call) -> Verdict { .next }
    public func requestMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict { .next }
    public func requestEnd(_ call: Call) -> Verdict { .next }
    public func interimHead(_ head: HTTPHead, _ call: Call) {}
    public func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict { .next }
    public func responseMessage(_ payload: Span<UInt8>, _ message: Message, _ call: Call) -> Verdict { .next }
    public func responseEnd(_ end: ResponseEnd, _ call: Call) -> Verdict { .next }
    public func plainBytes(_ bytes: Span<UInt8>, _ direction: Direction, _ call: Call) {}
    public func responseBytes(_ bytes: Span<UInt8>, _ call: Call) {}
    public func finished(_ call: Call) {}
}

internal import Configuration
internal import HTTP

/// The events of a call that an interceptor can ask for.
struct EventSet: OptionSet, Sendable {
    let rawValue: UInt8

    /// The head of the request, before it goes upstream.
    static let requestHead = EventSet(rawValue: 1)
    /// The head of the answer, before it goes to the caller.
    static let responseHead = EventSet(rawValue: 2)
    /// The trailers of the answer; made where there are none, so that fields can be added.
    static let responseTrailers = EventSet(rawValue: 4)
    /// The end of the call, whatever became of it.
    static let finished = EventSet(rawValue: 8)
    /// Messages are counted in both directions.
    static let messageCounts = EventSet(rawValue: 16)
}

/// One link of a chain.
///
/// Hooks run on the worker's thread, one at a time, and must be quick. Request hooks run first to last, response hooks
/// and `finished` last to first. `finished` runs exactly once for every call whose request came to this interceptor.
protocol Interceptor: AnyObject {
    /// The events that the chain calls hooks for.
    var events: EventSet { get }
    /// The interceptor that one call gets: this one, if it keeps nothing about a call, or a new one.
    func forCall() -> any Interceptor
    /// What is wrong with sending every call to this upstream; said once, when the configuration is loaded.
    func objection(to upstream: UpstreamSettings) -> String?
    /// The request's head may be changed.
    func requestHead(_ call: Call) -> Verdict
    /// The answer's head may be changed.
    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict
    /// The answer's trailers may be changed.
    func responseTrailers(_ trailers: HTTPHead, _ call: Call)
    /// The call is over; its record is complete.
    func finished(_ call: Call)
}

extension Interceptor {
    func forCall() -> any Interceptor { self }
    func objection(to upstream: UpstreamSettings) -> String? { nil }
    func requestHead(_ call: Call) -> Verdict { .next }
    func responseHead(_ head: HTTPHead, _ call: Call) -> Verdict { .next }
    func responseTrailers(_ trailers: HTTPHead, _ call: Call) {}
    func finished(_ call: Call) {}
}

internal import Bytes
internal import Events
internal import RPC
public import Telemetry
internal import Time

/// The span of a call, and one for each of its attempts, as long as the call is under way.
///
/// Belongs to the worker's thread.
public final class CallTracing {
    /// What upstreams are told of the trace.
    public struct Headers: OptionSet, Sendable {
        public let rawValue: UInt8

        /// Makes a set of headers from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `traceparent`.
        public static let traceparent = Headers(rawValue: 1)
        /// `b3`.
        public static let b3 = Headers(rawValue: 2)
    }

    /// One attempt.
    struct AttemptSpan {
        let id: UInt64
        let start: Instant
        var end: Instant?
        var result: AttemptResult?
        var address: SocketAddress?
        /// The HTTP status of its response.
        var status: Int?
        /// What its response has ended with, if it is not that of the call.
        var code: RPCCode?
        let isHedge: Bool
    }

    /// The trace, and the span of the call.
    public let context: TraceContext
    /// The span of the caller; none if the trace begins here.
    public let parent: UInt64?
    /// What attempts say; nothing if what has come from the caller passes as it is.
    let headers: Headers
    private(set) var attempts: [AttemptSpan] = []
    /// The span of the call, once it has been exported.
    public internal(set) var exported: ExportedSpan?

    /// The most attempts of a call that have spans.
    private static let maxAttempts = 64

    /// Whether spans may be exported, so that attempts have some of their own.
    let isRecorded: Bool

    /// Begins the span of a call; `mayBeLate` if it may be exported though nobody has sampled it.
    public init(_ context: TraceContext, parent: UInt64?, headers: Headers, mayBeLate: Bool) {
        (self.context, self.parent, self.headers) = (context, parent, headers)
        isRecorded = context.isSampled || mayBeLate
    }

    /// An attempt begins.
    ///
    /// - Returns: its index; none if there are too many.
    func begin(_ id: UInt64, at now: Instant, isHedge: Bool) -> Int? {
        guard attempts.count < Self.maxAttempts else { return nil }
        attempts.append(AttemptSpan(id: id, start: now, isHedge: isHedge))
        return attempts.count - 1
    }

    /// An attempt is on a connection to an address.
    func connected(_ index: Int, to address: SocketAddress) { attempts[index].address = address }

    /// A response has begun.
    func responded(_ index: Int, status: Int) { attempts[index].status = status }

    /// The response is not that of the call.
    func ended(_ index: Int, with code: RPCCode) { attempts[index].code = code }

    /// An attempt is over.
    func end(_ index: Int, _ result: AttemptResult, at now: Instant) {
        guard attempts[index].end == nil else { return }
        (attempts[index].end, attempts[index].result) = (now, result)
    }
}

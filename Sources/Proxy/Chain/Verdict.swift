public import HTTP
public import Protocols
public import RPC
public import Telemetry

/// What an interceptor returns for an event.
public enum Verdict {
    /// The call goes on.
    case next
    /// The call ends with this error, in the caller's protocol.
    ///
    /// In the request direction interceptors further on never see the event, and those before it see no response. On the
    /// response's way the error takes the place of the event, and those that are still to come see it as the response's end.
    indirect case reject(RPCError)
    /// The call is answered here, as if the upstream had said so; good until the head of a response has gone out.
    indirect case respond(LocalResponse)
    /// Likewise, by a response that the interceptor has kept.
    indirect case respondStored(StoredResponse)
    /// The call goes no further in the chain: it is served in this process, message by message, in an upstream's place.
    ///
    /// For the head of a request alone.
    case serve(LocalUpstream, LocalUpstream.Opening)
    /// The caller's stream is reset, and nothing is said; the upstream's work is cancelled.
    case reset
    /// The response that has come is dropped, and the call is retried; what runs for each attempt runs again.
    ///
    /// For hooks of the response of interceptors that ask for `retries`. Where it cannot be, as `Call.retrySkipReason` says,
    /// that is noted and the event goes on.
    case retry(RetryReason)
    /// The event waits here until the suspension is resumed, with the verdict that counts then.
    case suspend(Suspension)

    /// Lets the event wait for `work`, which runs as a task on the worker's loop.
    ///
    /// What it returns is called on the worker's thread with what has waited, which it may still change; its verdict
    /// counts. The task is cancelled if the call ends meanwhile.
    public static func suspend(_ work: @escaping @Sendable () async -> @Sendable (Suspended) -> Verdict) -> Verdict {
        suspend(work) { verdict, suspended in verdict(suspended) }
    }

    /// Lets the event wait for `work`, which runs as a task on the worker's loop, and hands what it returns to `then`.
    ///
    /// `then` is called on the worker's thread, so it may use the interceptor itself; its verdict counts. The task is
    /// cancelled if the call ends meanwhile, and `then` is not called.
    public static func suspend<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result,
        then: @escaping (Result, Suspended) -> Verdict
    ) -> Verdict {
        .suspend(Suspension(work, then: then))
    }
}

extension Verdict {
    /// What is noted of it.
    func decision(on event: ChainEvent) -> DecisionTrace.Decision {
        switch self {
        case .next:
            if case .responseEnd(let end) = event, end.isNewlyReplaced { return .replace }
            return .next
        case .reject: return .reject
        case .respond, .respondStored, .serve: return .respond
        case .reset: return .reset
        case .suspend: return .suspend
        case .retry: return .retry
        }
    }
}

/// What has waited for a suspension.
public struct Suspended {
    /// The call.
    public let call: Call
    /// The head of the response, if that has waited; that of the request is `call.request`.
    public let head: HTTPHead?
    /// The message, if one has waited.
    public let message: Message?
    /// The end of the response, if that has waited.
    public let end: ResponseEnd?

    init(_ call: Call, _ event: ChainEvent) {
        self.call = call
        head = if case .responseHead(let head, _) = event { head } else { nil }
        message = if case .message(let message) = event { message } else { nil }
        end = if case .responseEnd(let end) = event { end } else { nil }
    }
}

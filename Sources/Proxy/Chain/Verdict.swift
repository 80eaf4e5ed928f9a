public import Dialects
public import HTTP
public import RPC

/// What an interceptor answers to an event.
public enum Verdict {
    /// The call goes on.
    case next
    /// The call ends with this error, in the caller's dialect; interceptors further on never see the event.
    indirect case reject(RPCError)
    /// The call is answered here, as if the upstream had said so; good until the head of an answer has gone out.
    indirect case respond(LocalAnswer)
    /// The event waits here until the suspension is resumed, with the verdict that counts then.
    case suspend(Suspension)

    /// Lets the event wait for `work`, which runs as a task on the worker's loop.
    ///
    /// What it returns is called on the worker's thread with what has waited, which it may still change; its verdict
    /// counts. The task is cancelled if the call ends meanwhile.
    public static func suspend(_ work: @escaping @Sendable () async -> @Sendable (Suspended) -> Verdict) -> Verdict {
        .suspend(Suspension(work))
    }
}

/// What has waited for a suspension.
public struct Suspended {
    /// The call.
    public let call: Call
    /// The head of the answer, if that has waited; that of the request is `call.request`.
    public let head: HTTPHead?
    /// The message, if one has waited.
    public let message: Message?
    /// The end of the answer, if that has waited.
    public let end: ResponseEnd?
}

internal import Dialects
internal import RPC

/// What an interceptor answers to an event.
enum Verdict {
    /// The call goes on.
    case next
    /// The call ends with this error; interceptors further in never see it.
    indirect case reject(RPCError)
    /// The call is answered here, as if the upstream had said so.
    indirect case respond(LocalAnswer)
}

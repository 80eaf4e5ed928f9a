/// A direction of a call.
public enum Direction: Sendable {
    /// From the caller to the upstream.
    case request
    /// From the upstream to the caller.
    case response
}

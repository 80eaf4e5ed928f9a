/// Why a request was not let in, as the label `reason` names it.
public enum RejectionLabel: UInt8, CaseIterable, Sendable {
    /// It names a host that the listener is not for.
    case host
    /// A web page of an origin that may not call is behind it.
    case origin
    /// It keeps coming back: an upstream leads to the proxy itself.
    case loop

    /// The value of the label.
    public var label: StaticString {
        switch self {
        case .host: "host"
        case .origin: "origin"
        case .loop: "loop"
        }
    }
}

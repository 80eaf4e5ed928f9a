/// Who decided the outcome of a call, other than an interceptor.
public enum DeciderLabel: UInt8, CaseIterable, Sendable {
    case upstream, martlet, caller

    /// The value of the label `decided_by`.
    var label: StaticString {
        switch self {
        case .upstream: "upstream"
        case .martlet: "martlet"
        case .caller: "caller"
        }
    }
}

/// What became of a request at a cache, as the label `result` and the log field `cache` name it.
public enum CacheLabel: UInt8, CaseIterable, Sendable {
    /// It got a fresh stored response.
    case hit
    /// It got a stale one.
    case stale
    /// It got a stored response that the upstream had just said to be good.
    case revalidated
    /// It went to the upstream, as there was no response that it could have.
    case miss
    /// It was none that is looked up.
    case bypass
    /// It waited for another request, and got the response of that.
    case collapsed

    /// The value of the label.
    public var label: StaticString {
        switch self {
        case .hit: "hit"
        case .stale: "stale"
        case .revalidated: "revalidated"
        case .miss: "miss"
        case .bypass: "bypass"
        case .collapsed: "collapsed"
        }
    }
}

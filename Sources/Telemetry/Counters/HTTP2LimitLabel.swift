/// A limit that the other side of an HTTP/2 connection ran into, as the label `limit` names it.
public enum HTTP2LimitLabel: UInt8, CaseIterable, Sendable {
    /// It reset its own streams too often (rapid reset).
    case rapidReset
    /// It provoked too many resets of its streams (made you reset).
    case madeYouReset
    /// It sent too many CONTINUATION frames for one head.
    case continuation
    /// It sent too many SETTINGS or GOAWAY frames, or too many settings in one.
    case settings
    /// It sent too many PING frames.
    case ping
    /// It sent too many DATA frames that are empty and end nothing.
    case emptyData
    /// It sent too many PRIORITY frames.
    case priority
    /// It sent more than a window allows, or opened one beyond 2³¹-1 bytes.
    case window
    /// A list of header fields was larger than allowed.
    case headerList
    /// A compressed head could not be read, or asked for a table larger than allowed.
    case hpack
    /// The heads of all its streams took more than allowed.
    case heads
    /// It opened more streams than allowed.
    case streams
    /// It kept windows shut while bytes waited for it, or brought us to send frames and read none.
    case slowReader
    /// A head did not come to its end.
    case stalled

    /// The value of the label.
    public var label: StaticString {
        switch self {
        case .rapidReset: "rapid_reset"
        case .madeYouReset: "made_you_reset"
        case .continuation: "continuation"
        case .settings: "settings"
        case .ping: "ping"
        case .emptyData: "empty_data"
        case .priority: "priority"
        case .window: "window"
        case .headerList: "header_list"
        case .hpack: "hpack"
        case .heads: "heads"
        case .streams: "streams"
        case .slowReader: "slow_reader"
        case .stalled: "stalled"
        }
    }
}

/// What a peer can do too much of on one HTTP/2 connection.
public enum HTTP2Limit: CaseIterable, Sendable {
    /// It resets streams (rapid reset).
    case rapidReset
    /// It makes us reset streams, by what it sends on them (made you reset).
    case madeYouReset
    /// CONTINUATION frames behind one HEADERS frame.
    case continuation
    /// SETTINGS frames.
    case settings
    /// PING frames.
    case ping
    /// DATA frames with nothing in them.
    case emptyData
    /// PRIORITY frames, and others that ask for nothing.
    case priority
    /// WINDOW_UPDATE frames, or a window beyond what there is.
    case window
    /// The fields of one head, uncompressed.
    case headerList
    /// Heads that HPACK cannot read.
    case hpack
    /// The heads of all streams at once, uncompressed.
    case heads
    /// Streams at once.
    case streams
    /// It takes nothing of what waits for it.
    case slowReader
    /// A head that does not come to its end.
    case stalled

    /// What it is that there was too much of, for people.
    public var text: String {
        switch self {
        case .rapidReset, .madeYouReset: "too many resets"
        case .continuation: "too many CONTINUATION frames"
        case .settings: "too many SETTINGS or GOAWAY frames"
        case .ping: "too many PING frames"
        case .emptyData: "too many empty DATA frames"
        case .priority: "too many PRIORITY frames"
        case .window: "too many WINDOW_UPDATE frames, or too large a window"
        case .headerList: "the head is too large"
        case .hpack: "the head is not valid HPACK"
        case .heads: "the heads of all calls are too large"
        case .streams: "too many streams"
        case .slowReader: "the peer reads nothing"
        case .stalled: "the head is incomplete"
        }
    }
}

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
    /// Streams at once.
    case streams
    /// It takes nothing of what waits for it.
    case slowReader
    /// A head that does not come to its end.
    case stalled
}

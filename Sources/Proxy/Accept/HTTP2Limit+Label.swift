internal import HTTP
internal import Telemetry

extension HTTP2Limit {
    /// What the limit is counted as.
    var label: HTTP2LimitLabel {
        switch self {
        case .rapidReset: .rapidReset
        case .madeYouReset: .madeYouReset
        case .continuation: .continuation
        case .settings: .settings
        case .ping: .ping
        case .emptyData: .emptyData
        case .priority: .priority
        case .window: .window
        case .headerList: .headerList
        case .hpack: .hpack
        case .heads: .heads
        case .streams: .streams
        case .slowReader: .slowReader
        case .stalled: .stalled
        }
    }
}

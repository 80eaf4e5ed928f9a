/// An error code of HTTP/2 (RFC 9113 §7).
public struct HTTP2Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt32

    /// Takes a code as a frame has it, be it known or not.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Nothing went wrong.
    public static let noError = HTTP2Code(rawValue: 0)
    /// The peer broke the protocol.
    public static let protocolError = HTTP2Code(rawValue: 1)
    /// Something went wrong here.
    public static let internalError = HTTP2Code(rawValue: 2)
    /// The peer sent more than the window allowed.
    public static let flowControlError = HTTP2Code(rawValue: 3)
    /// A frame came on a stream that the peer had ended.
    public static let streamClosed = HTTP2Code(rawValue: 5)
    /// A frame has a size that it cannot have.
    public static let frameSizeError = HTTP2Code(rawValue: 6)
    /// The request was not processed at all.
    public static let refusedStream = HTTP2Code(rawValue: 7)
    /// A head could not be decompressed.
    public static let compressionError = HTTP2Code(rawValue: 9)
    /// The stream is not wanted any more.
    public static let cancel = HTTP2Code(rawValue: 8)
    /// The peer asks too much.
    public static let enhanceYourCalm = HTTP2Code(rawValue: 11)

    /// Whether a reset with this code, sent by ourselves, is a response to something that the peer should not have done.
    var blamesPeer: Bool {
        switch self {
        case .protocolError, .flowControlError, .streamClosed, .frameSizeError, .refusedStream: true
        default: false
        }
    }
}

extension HTTP2Code: CustomStringConvertible {
    /// The name in the registry of the protocol; for others the number.
    public var description: String {
        Self.names.indices.contains(Int(rawValue)) ? Self.names[Int(rawValue)] : "code \(rawValue)"
    }

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
}

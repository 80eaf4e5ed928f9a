import HTTP2Kit

/// A configuration that forwards everything to 127.0.0.1:9000 by HTTP/2, and counts it.
let http2Plain = """
    listen: 127.0.0.1:8080
    upstream: h2c://127.0.0.1:9000
    interceptors: [{metrics: {}}, {probe: {}}]
    """

/// The control data of a request to `path` at the upstream at 127.0.0.1:9000, in words.
func control(_ method: String = "POST", _ path: String = "/pkg.Service/Say") -> String {
    ":method: \(method) | :scheme: http | :authority: 127.0.0.1:9000 | :path: \(path)"
}

/// An envelope around a message, one byte for each character.
func envelope(_ message: String, flags: UInt8 = 0) -> String {
    ([flags] + message.utf8.count.bigEndianBytes + Array(message.utf8)).latin1
}

extension Frame {
    /// The head of an RPC to `/pkg.Service/Say`.
    static func say(_ stream: Int, _ type: String, _ fields: (String, String)..., end: Bool = false) -> Frame {
        let control = [(":method", "POST"), (":scheme", "http"), (":authority", "app"), (":path", "/pkg.Service/Say")]
        let type = [("content-type", type)] + (type.hasPrefix("application/grpc") ? [("te", "trailers")] : [])
        return Frame(
            .headers,
            flags: Flag.endHeaders | (end ? Flag.end : 0),
            stream: stream,
            (control + type + fields).flatMap { HPACK.literal($0.0, $0.1) }
        )
    }

    /// A GET without a body.
    static func get(_ stream: Int, _ target: String) -> Frame {
        let control = [(":method", "GET"), (":scheme", "http"), (":authority", "app"), (":path", target)]
        return Frame(
            .headers,
            flags: Flag.endHeaders | Flag.end,
            stream: stream,
            control.flatMap { HPACK.literal($0.0, $0.1) }
        )
    }
}

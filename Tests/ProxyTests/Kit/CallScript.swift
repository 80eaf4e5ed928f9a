import HTTP2Kit
import Testing

/// One call over HTTP/2 on both sides, in any style: what the caller and the upstream say, and what they hear.
final class CallScript {
    let harness: ProxyHarness
    let style: Style
    /// Whether the messages of both are compressed.
    let isGzip: Bool
    let caller: HTTP2Peer
    private(set) var upstream: HTTP2Peer!
    let callerFrames: FrameDecoder
    private(set) var upstreamFrames: FrameDecoder!
    /// The path of the request.
    var path = "/pkg.Service/Say"
    private let stream: Int
    private var upstreamStream = 1

    init(
        _ harness: ProxyHarness,
        _ style: Style,
        gzip isGzip: Bool = false,
        of caller: HTTP2Peer? = nil,
        stream: Int = 1
    ) {
        (self.harness, self.style, self.isGzip, self.stream) = (harness, style, isGzip, stream)
        self.caller = caller ?? harness.http2Caller()
        callerFrames = FrameDecoder(self.caller, style, stream: stream, isCaller: true)
    }

    // MARK: The caller

    /// Sends the head of the request.
    func begin(_ fields: (String, String)..., end: Bool = false) {
        let type = [(":method", "POST"), (":scheme", "http"), (":authority", "app"), (":path", path)]
        let encoding = isGzip ? [(style.encodingField, "gzip")] : []
        let all = type + [("content-type", style.contentType)] + encoding + fields
        let flags = Frame.Flag.endHeaders | (end ? Frame.Flag.end : 0)
        caller.send(Frame(.headers, flags: flags, stream: stream, all.flatMap { HPACK.literal($0.0, $0.1) }))
    }

    /// Sends messages of the request, together.
    func say(_ messages: String..., end: Bool = false) {
        caller.send(.data(stream, messages.flatMap { written($0) }, end: end))
    }

    /// Ends the request.
    func hangUp() {
        caller.send(.data(stream, end: true))
    }

    /// Gives the call up.
    func cancel() {
        caller.send(.reset(stream, .cancel))
    }

    /// A message as the body has it.
    func written(_ message: String) -> [UInt8] {
        isGzip ? style.framed(Gzip.compressed(message.latin1), flags: 1) : style.framed(message.latin1)
    }

    // MARK: The upstream

    /// The upstream takes the connection, or the call on one that is there.
    func accept(on peer: HTTP2Peer? = nil, stream: Int = 1) {
        upstream = peer ?? harness.upstream().acceptHTTP2(in: harness)
        upstreamStream = stream
        upstreamFrames = FrameDecoder(upstream, style, stream: stream, isCaller: false)
    }

    /// Sends the head of the response.
    func respond(_ fields: (String, String)...) {
        sendHead(200, [("content-type", style.contentType)] + fields)
    }

    private func sendHead(_ status: Int, _ fields: [(String, String)], end: Bool = false) {
        let encoding = isGzip && status == 200 ? [(style.encodingField, "gzip")] : []
        let all = [(":status", "\(status)")] + fields + encoding
        let flags = Frame.Flag.endHeaders | (end ? Frame.Flag.end : 0)
        let block = all.flatMap { HPACK.literal($0.0, $0.1) }
        upstream.send(Frame(.headers, flags: flags, stream: upstreamStream, block))
    }

    /// Sends messages of the response, together.
    func reply(_ messages: String...) {
        upstream.send(.data(upstreamStream, messages.flatMap { written($0) }))
    }

    /// Sends a response that is nothing but its head.
    func respondOnly(_ fields: (String, String)...) {
        sendHead(200, [("content-type", style.contentType)] + fields, end: true)
    }

    /// Ends the response well.
    func conclude(_ trailers: KeyValuePairs<String, String> = [:]) {
        finish(trailers.map { ($0.key, $0.value) })
    }

    /// Ends the response with an error, in unary Connect instead of any head or message.
    func fail(_ code: String, _ message: String, _ number: Int, status: Int = 500) {
        let error = #"{"code":"\#(code)","message":"\#(message)"}"#
        switch style {
        case .connectUnary:
            sendHead(status, [("content-type", "application/json")])
            upstream.send(.data(upstreamStream, error.latin1, end: true))
        case .connectStream:
            upstream.send(.data(upstreamStream, style.framed(#"{"error":\#(error)}"#.latin1, flags: 2), end: true))
        default: finish([("grpc-status", "\(number)"), ("grpc-message", message)])
        }
    }

    private func finish(_ trailers: [(String, String)]) {
        let status = trailers.contains { $0.0 == "grpc-status" } ? trailers : [("grpc-status", "0")] + trailers
        switch style {
        case .connectUnary: upstream.send(.data(upstreamStream, end: true))
        case .connectStream:
            let metadata = trailers.map { #""\#($0.0)":["\#($0.1)"]"# }.joined(separator: ",")
            let end = trailers.isEmpty ? "{}" : #"{"metadata":{\#(metadata)}}"#
            upstream.send(.data(upstreamStream, style.framed(end.latin1, flags: 2), end: true))
        case .grpc:
            let block = status.flatMap { HPACK.literal($0.0, $0.1) }
            let flags = Frame.Flag.endHeaders | Frame.Flag.end
            upstream.send(Frame(.headers, flags: flags, stream: upstreamStream, block))
        case .grpcWeb, .grpcWebText:
            let lines = status.map { "\($0.0): \($0.1)\r\n" }.joined()
            upstream.send(.data(upstreamStream, style.framed(lines.latin1, flags: 0x80), end: true))
        }
    }

    // MARK: Hearing

    /// The caller hears exactly this next.
    func callerReceives(_ lines: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        receives(callerFrames, lines, sourceLocation)
    }

    func callerReceives(all lines: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        receives(callerFrames, lines, sourceLocation)
    }

    /// The upstream hears exactly this next.
    func upstreamReceives(_ lines: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        receives(upstreamFrames, lines, sourceLocation)
    }

    func upstreamReceives(all lines: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        receives(upstreamFrames, lines, sourceLocation)
    }

    private func receives(_ decoder: FrameDecoder, _ lines: [String], _ sourceLocation: SourceLocation) {
        if lines.isEmpty { harness.settle() } else { harness.until { decoder.received.count >= lines.count } }
        let came = lines.isEmpty ? decoder.received : Array(decoder.received.prefix(lines.count))
        decoder.remove(came.count)
        let isExpected =
            came.count == lines.count
            && zip(came, lines).allSatisfy { $1.hasSuffix("…") ? $0.hasPrefix($1.dropLast()) : $0 == $1 }
        guard !isExpected else { return }
        Issue.record("\(style): \(came.map { $0.prefix(200) }) instead of \(lines)", sourceLocation: sourceLocation)
    }

    /// Nothing more is heard on either side.
    func expectSilence(sourceLocation: SourceLocation = #_sourceLocation) {
        receives(callerFrames, [], sourceLocation)
        if let upstreamFrames { receives(upstreamFrames, [], sourceLocation) }
    }
}

/// Plays a script in several styles, in memory and over sockets, with these interceptors.
func runCall(
    _ chain: String,
    in styles: [Style] = Style.allCases,
    on transports: [Transport] = Transport.allCases,
    listener: String = "",
    upstream: String = "",
    gzip: Bool = false,
    more: String = "",
    sourceLocation: SourceLocation = #_sourceLocation,
    _ script: (CallScript) throws -> Void
) rethrows {
    let yaml = """
        listeners: [{address: "127.0.0.1:8080"\(listener.isEmpty ? "" : ", " + listener)}]
        upstreams: {default: {url: "h2c://127.0.0.1:9000"\(upstream.isEmpty ? "" : ", " + upstream)}}
        interceptors: [\(chain)]
        \(more)
        """
    for style in styles {
        for transport in transports {
            try runProxy(transport, yaml, sourceLocation: sourceLocation) { harness in
                try script(CallScript(harness, style, gzip: gzip))
            }
        }
    }
}

import Bytes
import Events
import HTTP
import HTTP2Kit
import Protocols
import RPC
import Testing
import Time

/// One call with a trouble, over a connection of its own on each side: what the caller gets, and what the record says.
final class OutcomeCall {
    private let harness: ProxyHarness
    private let spoken: Spoken
    private let trouble: Trouble
    private let caller: ScriptedPeer
    private let caller2: HTTP2Peer?
    private var bytes: [UInt8] = []
    private var upstreams: [UpstreamSide] = []
    private var accepted: Int
    private let usesHTTP2: Bool

    private(set) var view = CallerView()
    /// The code of the record, and who decided.
    private(set) var record: (code: RPCCode, decider: String)?
    /// The heads of the requests that have come upstream, in words.
    var upstreamHeads: [String] { upstreams.flatMap(\.heads) }

    init(
        _ harness: ProxyHarness,
        _ rpcProtocol: RPCProtocol,
        _ version: HTTPVersion,
        usesHTTP2: Bool,
        _ trouble: Trouble
    ) {
        (self.harness, self.trouble, self.usesHTTP2) = (harness, trouble, usesHTTP2)
        spoken = Spoken(rpcProtocol)
        accepted = harness.upstream().connects
        if case .rejects = trouble.script {
            harness.upstream().behaviour = .rejects
        } else {
            harness.upstream().behaviour = .accepts
        }
        caller2 = version == .http2 ? harness.http2Caller() : nil
        caller = caller2?.peer ?? harness.caller()
        _ = harness.eventLog.drain()
    }

    /// Makes the call and waits until it is over on both sides.
    func run() {
        ask()
        for time in [Duration.zero, .milliseconds(20), .milliseconds(600), .seconds(2), .seconds(30)] {
            if time > .zero { harness.pass(time) }
            for _ in 0..<40 where !isOver { step() }
            if isOver { break }
        }
        for upstream in upstreams { upstream.peer.close() }
        caller.close()
        for _ in 0..<4 { harness.turn() }
        harness.removeClosed()
    }

    private var isOver: Bool { record != nil && (view.isWhole || view.isBroken) }

    private func step() {
        while harness.upstream().behaviour == .accepts, harness.upstream().connects > accepted {
            accepted += 1
            upstreams.append(UpstreamSide(harness, usesHTTP2: usesHTTP2, spoken, trouble.script))
        }
        for upstream in upstreams { upstream.step() }
        harness.turn()
        if let caller2 {
            view.read(caller2.receiveLines(of: 1))
            if caller.end != nil, !view.isWhole { view.isBroken = true }
        } else {
            let more = caller.receiveAll()
            bytes += more
            if !more.isEmpty || caller.end != nil { view = CallerView(bytes, hasEnded: caller.end != nil) }
        }
        for line in harness.eventLog.drain() where line.hasPrefix("w finished ") {
            let words = line.dropFirst("w finished ".count).split(separator: " ", maxSplits: 2)
            record = (RPCCode(name: String(words[0])) ?? .ok, String(words[2]))
        }
    }

    private func ask() {
        let timeout = trouble.hasTimeout ? spoken.timeout.map { [$0] } ?? [] : []
        let fields = spoken.requestFields + timeout + [("x-trouble", trouble.name)]
        let message = trouble.isLarge ? #"{"a":"\#(String(repeating: "x", count: 3000))"}"# : #"{"a":1}"#
        let body = spoken.requestBody(message)
        guard let caller2 else {
            let lines = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
            let length = spoken.rpcProtocol == .connectGet ? "" : "content-length: \(body.count)\r\n"
            let head = "\(spoken.method) \(spoken.target) HTTP/1.1\r\nhost: app\r\n\(lines)\(length)\r\n"
            return caller.send(head.latin1 + body)
        }
        let control = [
            (":method", spoken.method), (":scheme", "http"), (":authority", "app"), (":path", spoken.target),
        ]
        let block = (control + fields).flatMap { HPACK.literal($0.0, $0.1) }
        let isLast = body.isEmpty
        let head = Frame(.headers, flags: Frame.Flag.endHeaders | (isLast ? Frame.Flag.end : 0), stream: 1, block)
        if isLast { caller2.send(head) } else { caller2.send(head, .data(1, body, end: true)) }
    }
}

/// One connection of an upstream, which responds to each request on it by a script.
private final class UpstreamSide {
    let peer: ScriptedPeer
    private let peer2: HTTP2Peer?
    private let spoken: Spoken
    private let script: Trouble.Script
    private var bytes: [UInt8] = []
    private var responded: Set<Int> = []
    private(set) var heads: [String] = []

    init(_ harness: ProxyHarness, usesHTTP2: Bool, _ spoken: Spoken, _ script: Trouble.Script) {
        peer2 = usesHTTP2 ? harness.upstream().acceptHTTP2(in: harness) : nil
        peer = peer2?.peer ?? harness.upstream().accept()
        (self.spoken, self.script) = (spoken, script)
    }

    func step() {
        guard let peer2 else { return stepHTTP1() }
        let ends = peer2.frames.filter { ($0.kind == .data || $0.kind == .headers) && $0.has(Frame.Flag.end) }
        for stream in ends.map(\.stream) where responded.insert(stream).inserted {
            heads += peer2.receiveLines(of: stream).filter { $0.contains(" HEADERS") }
            respond(stream)
        }
    }

    private func stepHTTP1() {
        let more = peer.receiveAll()
        bytes += more
        guard !more.isEmpty, let end = bytes.index(of: "\r\n\r\n".latin1) else { return }
        let head = bytes[..<end].latin1
        let rest = bytes[(end + 4)...]
        let lines = head.components("\r\n")
        let length = lines.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
        let isChunked = lines.contains("transfer-encoding: chunked")
        guard isChunked ? rest.suffix(5) == "0\r\n\r\n".latin1[...] : rest.count >= length else { return }
        heads.append(head)
        bytes = []
        respond(1)
    }

    private func respond(_ stream: Int) {
        let good = spoken.good
        let (pieces, breaks): ([Spoken.Piece], Bool)
        switch script {
        case .good, .rejects: (pieces, breaks) = (good, false)
        case .error: (pieces, breaks) = (spoken.error(behindMessage: true), false)
        case .errorOnly: (pieces, breaks) = (spoken.error(behindMessage: false), false)
        case .garbled: (pieces, breaks) = (spoken.garbled, false)
        case .endless: (pieces, breaks) = (spoken.endless, false)
        case .cut: (pieces, breaks) = (spoken.cut, false)
        case .large: (pieces, breaks) = (spoken.large(3000), false)
        case .page(let status): (pieces, breaks) = (spoken.page(status), false)
        case .breaks(let count): (pieces, breaks) = (Array(count < 0 ? good.dropLast() : good.prefix(count)), true)
        case .stops(let count): (pieces, breaks) = (Array(good.prefix(count)), false)
        }
        // Each by itself: what is sent before a break is to arrive before it.
        for piece in pieces { peer2 == nil ? sendHTTP1(piece) : sendHTTP2(piece, stream) }
        guard breaks else { return }
        if let peer2 { peer2.send(.reset(stream, .internalError)) } else { peer.close() }
    }

    private func sendHTTP1(_ piece: Spoken.Piece) {
        switch piece {
        case .head(let status, let fields, let isLast):
            let lines = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
            let framing = isLast ? "content-length: 0" : "transfer-encoding: chunked"
            peer.send("HTTP/1.1 \(status) Word\r\n\(lines)\(framing)\r\n\r\n")
        case .body(let bytes): peer.send("\(String(bytes.count, radix: 16))\r\n".latin1 + bytes + "\r\n".latin1)
        case .end(let trailers): peer.send("0\r\n" + trailers.map { "\($0.0): \($0.1)\r\n" }.joined() + "\r\n")
        }
    }

    private func sendHTTP2(_ piece: Spoken.Piece, _ stream: Int) {
        switch piece {
        case .head(let status, let fields, let isLast):
            let block = HPACK.literal(":status", "\(status)") + fields.flatMap { HPACK.literal($0.0, $0.1) }
            let flags = Frame.Flag.endHeaders | (isLast ? Frame.Flag.end : 0)
            peer2?.send(Frame(.headers, flags: flags, stream: stream, block))
        case .body(let bytes): peer2?.send(.data(stream, bytes))
        case .end(let trailers) where trailers.isEmpty: peer2?.send(.data(stream, [], end: true))
        case .end(let trailers):
            let block = trailers.flatMap { HPACK.literal($0.0, $0.1) }
            peer2?.send(Frame(.headers, flags: Frame.Flag.endHeaders | Frame.Flag.end, stream: stream, block))
        }
    }
}

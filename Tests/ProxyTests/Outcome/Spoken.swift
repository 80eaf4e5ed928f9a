import HTTP2Kit
import Protocols

/// How the peers of a test speak a protocol: what a request and a response of it are made of.
struct Spoken {
    /// A part of a response, however it is framed.
    enum Piece {
        case head(Int, [(String, String)], isLast: Bool = false)
        case body([UInt8])
        case end([(String, String)])
    }

    let rpcProtocol: RPCProtocol

    init(_ rpcProtocol: RPCProtocol) { self.rpcProtocol = rpcProtocol }

    var contentType: String {
        switch rpcProtocol {
        case .connectUnary, .connectGet, .http: "application/json"
        case .connectStream: "application/connect+json"
        case .grpc: "application/grpc+json"
        case .grpcWeb: "application/grpc-web+json"
        case .grpcWebText: "application/grpc-web-text+json"
        }
    }

    // MARK: Requests

    var method: String { rpcProtocol == .connectGet ? "GET" : "POST" }

    var target: String {
        switch rpcProtocol {
        case .connectGet: "/pkg.Service/Say?connect=v1&encoding=json&message=%7B%22a%22%3A1%7D"
        case .http: "/page"
        default: "/pkg.Service/Say"
        }
    }

    var requestFields: [(String, String)] {
        switch rpcProtocol {
        case .connectGet: []
        case .http: [("content-type", "text/plain")]
        default: [("content-type", contentType)]
        }
    }

    var timeout: (String, String)? {
        switch rpcProtocol {
        case .http: nil
        case .connectUnary, .connectGet, .connectStream: ("connect-timeout-ms", "500")
        case .grpc, .grpcWeb, .grpcWebText: ("grpc-timeout", "500m")
        }
    }

    /// The body of a request of one message.
    func requestBody(_ message: String = #"{"a":1}"#) -> [UInt8] {
        rpcProtocol == .connectGet ? [] : framed(message.latin1)
    }

    // MARK: Responses

    func framed(_ payload: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        guard rpcProtocol.hasEnvelopes else { return payload }
        let bytes = [flags] + payload.count.bigEndianBytes + payload
        return rpcProtocol == .grpcWebText ? Style.text(bytes) : bytes
    }

    private func head(_ fields: [(String, String)] = []) -> Piece {
        let trailer = rpcProtocol.isUnaryConnect ? [("trailer-x-t", "1")] : []
        return .head(200, [("content-type", contentType), ("x-h", "1")] + trailer + fields)
    }

    func message(_ text: String = #"{"a":1}"#, flags: UInt8 = 0) -> Piece { .body(framed(text.latin1, flags: flags)) }

    /// What ends a good response.
    private var goodEnd: [Piece] {
        switch rpcProtocol {
        case .connectUnary, .connectGet: [.end([])]
        case .http: [.end([("x-t", "1")])]
        case .connectStream: [.body(framed(#"{"metadata":{"x-t":["1"]}}"#.latin1, flags: 2)), .end([])]
        case .grpc: [.end([("grpc-status", "0"), ("x-t", "1")])]
        case .grpcWeb, .grpcWebText: [.body(framed("grpc-status: 0\r\nx-t: 1\r\n".latin1, flags: 0x80)), .end([])]
        }
    }

    /// A good response; of two messages where there can be two.
    var good: [Piece] { [head(), message()] + (rpcProtocol.hasEnvelopes ? [message()] : []) + goodEnd }

    /// An error of the upstream, `aborted`; behind a message where it can be.
    func error(behindMessage: Bool) -> [Piece] {
        let json = #"{"code":"aborted","message":"no"}"#
        let first = behindMessage ? [head(), message()] : [head()]
        switch rpcProtocol {
        case .connectUnary, .connectGet:
            return [
                .head(409, [("content-type", "application/json"), ("trailer-x-t", "1")]), .body(json.latin1), .end([]),
            ]
        case .http: return [.head(409, [("content-type", "text/plain")]), .body("no".latin1), .end([])]
        case .connectStream:
            let end = #"{"error":\#(json),"metadata":{"x-t":["1"]}}"#
            return first + [.body(framed(end.latin1, flags: 2)), .end([])]
        case .grpc:
            let status = [("grpc-status", "10"), ("grpc-message", "no"), ("x-t", "1")]
            guard behindMessage else { return [.head(200, [("content-type", contentType)] + status, isLast: true)] }
            return first + [.end(status)]
        case .grpcWeb, .grpcWebText:
            let lines = "grpc-status: 10\r\ngrpc-message: no\r\nx-t: 1\r\n"
            return first + [.body(framed(lines.latin1, flags: 0x80)), .end([])]
        }
    }

    /// A response whose message is compressed by nobody knows what.
    var garbled: [Piece] {
        let encoding = rpcProtocol.hasEnvelopes ? [] : [("content-encoding", "gzip")]
        return [head(encoding), message("junk", flags: rpcProtocol.hasEnvelopes ? 1 : 0)] + goodEnd
    }

    /// A response that ends without what ends it.
    var endless: [Piece] { [head(), message(), .end([])] }

    /// A response that ends within a message.
    var cut: [Piece] { [head(), .body(Array(framed(#"{"a":1}"#.latin1).prefix(8))), .end([])] }

    /// A response of one message of so many bytes.
    func large(_ count: Int) -> [Piece] {
        [head(), message(#"{"a":"\#(String(repeating: "x", count: count))"}"#)] + goodEnd
    }

    /// What somebody says who is no server of RPC.
    func page(_ status: Int) -> [Piece] {
        [.head(status, [("content-type", "text/html")]), .body("<p>hi</p>".latin1), .end([])]
    }
}

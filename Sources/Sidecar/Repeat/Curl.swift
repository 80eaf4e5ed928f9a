internal import Protocols
internal import Proxy

/// A request as a command of curl: the server gets the same method, target, headers and body.
struct Curl {
    /// Longer bodies are no argument of a command.
    private static let maxArgument = 8 * 1024
    /// What curl sends unless it is told not to.
    private static let ownHeaders = ["user-agent", "accept"]

    private var command = ShellCommand("curl -sS -i")
    private let request: RequestCopy

    init(_ request: RequestCopy) {
        self.request = request
        addConnection()
        addMethod()
        addHeaders()
        addBody()
        addTarget()
    }

    /// The command, without a line feed at its end.
    var text: String { command.text }

    private mutating func addConnection() {
        let isSecure = request.tls != nil
        command.add(!request.isHTTP2 ? "--http1.1" : isSecure ? "--http2" : "--http2-prior-knowledge")
        if case .unix(let path) = request.place {
            path.hasPrefix("@")
                ? command.add("--abstract-unix-socket", String(path.dropFirst()))
                : command.add("--unix-socket", path)
        }
        // A certificate is for the name, and the address may be one of several.
        if case .tcp(let place) = request.place, let address = request.address, address != place {
            command.add("--connect-to", "\(place):\(address)")
        }
        if let file = request.tls?.authorities { command.add("--cacert", file) }
        if let identity = request.tls?.certificate {
            command.add("--cert", identity.file)
            command.add("--key", identity.key)
        }
        if request.tls?.isInsecure == true { command.add("--insecure") }
    }

    private mutating func addMethod() {
        let method = String(decoding: request.method, as: UTF8.self)
        guard method != "HEAD" else { return addHead() }
        if method != "GET" || request.body != .none { command.add("-X", method) }
    }

    /// Makes curl read no body of the response to a HEAD; `--head` does, but sends no body either.
    private mutating func addHead() {
        guard request.body != .none else { return command.add("--head") }
        command.add("-X HEAD --ignore-content-length")
        guard !request.isHTTP2 else { return }
        command.note("curl reads until the server closes the connection, as it expects a body in the response")
        command.add("-H", "connection: close")
        // The head of the response may name chunks, none of which follows.
        command.allow(exitCode: 18)
    }

    private mutating func addHeaders() {
        let authority = String(decoding: request.authority, as: UTF8.self)
        if authority != request.ownAuthority, !authority.isEmpty {
            command.add("-H", ShellWord(Array("host: ".utf8) + request.authority))
        }
        let names = request.fields.map { String(decoding: $0.name, as: UTF8.self) }
        for field in request.fields { command.add("-H", RequestCopy.word(field, ifEmpty: ";")) }
        if names.contains("accept-encoding"), !request.rpcProtocol.hasEnvelopes { command.add("--compressed") }
        for name in Self.ownHeaders where !names.contains(name) { command.add("-H", "\(name):") }
        if request.acceptsTrailers, !names.contains("te") { command.add("-H", "te: trailers") }
        guard request.body != .none else { return }
        if !names.contains("content-type") { command.add("-H", "content-type:") }
        if !request.isHTTP2 { command.add("-H", "expect:") }
        guard !request.hasLength else { return }
        // Without a length, HTTP/1.1 has chunks, and HTTP/2 needs nothing.
        command.add("-H", request.isHTTP2 ? "content-length:" : "transfer-encoding: chunked")
    }

    private mutating func addBody() {
        if !request.trailers.isEmpty { command.note("the request had trailers, which curl cannot send") }
        switch request.body {
        case .none: if request.hasLength { command.add("-H", "content-length: 0") }
        case .missing(let reason):
            command.note("the body of the request is not kept: \(reason); write it to the file body")
            command.require("test -r body")
            command.add("--data-binary @body")
        case .masked(let bytes):
            command.note("the body has *** for what is not shown")
            add(bytes)
        case .bytes(let bytes): add(bytes)
        }
        if request.rpcProtocol.hasEnvelopes { command.pipe(into: "cat -v") }
    }

    private mutating func add(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maxArgument, bytes.isShellText else {
            command.pipe(bytes)
            return command.add("--data-binary @-")
        }
        command.add("--data-raw", ShellWord(bytes))
    }

    private mutating func addTarget() {
        let target = request.target
        let isPlain =
            target.first == UInt8(ascii: "/") && target.allSatisfy { 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "#") }
        guard isPlain else {
            command.add("--request-target", request.targetWord(after: ""))
            return command.add("", request.origin)
        }
        command.add("--globoff --path-as-is", request.targetWord(after: request.origin))
    }
}

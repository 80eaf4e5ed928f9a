internal import Bytes
internal import Configuration
internal import Documents
internal import Interceptors
internal import Proxy
internal import RPC
internal import Time
internal import Types

/// A call that a test makes.
struct TestCall {
    private let method: String?
    private let plain: (method: String, target: String)?
    private let rpcProtocol: String
    private let codec: String
    private let headers: [(name: String, value: String)]
    /// Messages as JSON.
    private let json: [[UInt8]]
    /// A message as it is.
    private let bytes: [UInt8]?
    private let timeout: Duration?
    private let cancelAfter: Duration?
    private let caller: RehearsedRequest.Caller?
    private let host: String
    private let listener: Int

    /// Reads the options and reports what is wrong with them.
    init(_ section: Section, _ listeners: [ListenerSettings]) {
        method = section.string(ifGiven: "method").map { $0.hasPrefix("/") ? String($0.dropFirst()) : $0 }
        plain = section.string(ifGiven: "http").flatMap { Self.plain($0, section) }
        rpcProtocol = section.string("protocol")
        codec = section.string("codec")
        headers = section.map("headers").map { ($0.name.lowercased(), $0.text) }
        json = Self.messages(section)
        bytes =
            section.string(ifGiven: "text").map { Array($0.utf8) } ?? section.hexadecimal("hex")
            ?? section.base64("base64")
        timeout = section.has("timeout") ? section.duration("timeout") : nil
        cancelAfter = section.has("cancel_after") ? section.duration("cancel_after") : nil
        host = section.string("host")
        listener = Self.listener(section, listeners)
        caller = section.has("peer") ? Self.caller(section.section("peer")) : nil
        let contents = ["json", "messages", "text", "hex", "base64"].filter { section.has($0) }
        if contents.count > 1 { section.reportConflict(contents[0], contents[1]) }
        if section.has("method") == section.has("http") {
            let advice = "write \"method: pkg.Service/Method\" or \"http: GET /path\""
            section.diagnostics.report("the call needs a method or a path; \(advice)", at: section.mark)
        }
        if let method, method.split(separator: "/").count != 2 {
            let problem = "\(Diagnostic.quote(method)) is not a valid method"
            section.report("\(problem); write for example shop.v1.OrderService/Get", at: "method")
        }
    }

    private static func plain(_ text: String, _ section: Section) -> (method: String, target: String)? {
        let words = text.split(separator: " ")
        guard words.count == 2, words[1].hasPrefix("/") else {
            section.report("\"http\" cannot be \(Diagnostic.quote(text)); write for example GET /v1/orders", at: "http")
            return nil
        }
        return (words[0].uppercased(), String(words[1]))
    }

    private static func listener(_ section: Section, _ listeners: [ListenerSettings]) -> Int {
        guard let address = section.string(ifGiven: "listener") else { return 0 }
        let known = listeners.map { "\($0.address)" }
        if let index = known.firstIndex(of: address) { return index }
        let problem = "no listener has the address \(Diagnostic.quote(address))"
        section.report("\(problem); \(Suggestion.text(for: address, among: known))", at: "listener")
        return 0
    }

    private static func messages(_ section: Section) -> [[UInt8]] {
        if let node = section.node("json") { return [node.json] }
        guard let node = section.node("messages") else { return [] }
        guard case .sequence(let items) = node.content else {
            section.report("\"messages\" cannot be \(node.summary); write a list of messages", at: "messages")
            return []
        }
        return items.map(\.json)
    }

    private static func caller(_ peer: Section) -> RehearsedRequest.Caller {
        RehearsedRequest.Caller(
            uid: UInt32(peer.integer("uid")),
            gid: UInt32(peer.integer("gid")),
            pid: Int32(peer.integer("pid")),
            unit: peer.string(ifGiven: "unit")
        )
    }

    /// The request in its protocol; a text that says why there is none, if the types do not fit.
    func request(_ rehearsal: Rehearsal) -> Result<RehearsedRequest, TestProblem> {
        do throws(TestProblem) {
            if let plain { return .success(plainRequest(plain)) }
            return .success(try rpcRequest(rehearsal))
        } catch {
            return .failure(error)
        }
    }

    private func plainRequest(_ plain: (method: String, target: String)) -> RehearsedRequest {
        var request = RehearsedRequest(method: plain.method, target: plain.target, headers: headers)
        if let body = bytes ?? json.first { request.messages = [body] }
        complete(&request)
        return request
    }

    private func rpcRequest(_ rehearsal: Rehearsal) throws(TestProblem) -> RehearsedRequest {
        let messages = try messages(rehearsal)
        var fields: [(name: String, value: String)]
        switch rpcProtocol {
        case "connect_get": return try getRequest(messages)
        case "connect_stream": fields = [("content-type", "application/connect+\(codec)")]
        case "grpc": fields = [("content-type", "application/grpc+\(codec)"), ("te", "trailers")]
        case "grpc_web": fields = [("content-type", "application/grpc-web+\(codec)"), ("x-grpc-web", "1")]
        default: fields = [("content-type", "application/\(codec)"), ("connect-protocol-version", "1")]
        }
        if let timeout {
            let milliseconds = timeout / Duration.millisecond
            fields.append(
                rpcProtocol.hasPrefix("grpc")
                    ? ("grpc-timeout", "\(milliseconds)m") : ("connect-timeout-ms", "\(milliseconds)")
            )
        }
        var request = RehearsedRequest(method: "POST", target: "/\(method ?? "")", headers: fields + headers)
        request.messages = messages
        complete(&request)
        return request
    }

    private func getRequest(_ messages: [[UInt8]]) throws(TestProblem) -> RehearsedRequest {
        let query = ByteQueue()
        query.append("?connect=v1&encoding=")
        query.append(text: codec)
        query.append("&base64=1&message=")
        let message = messages.first ?? []
        query.append(base64: message.span, padded: false)
        let escaped = query.readable.string.replacing("+", with: "-").replacing("/", with: "_")
        var request = RehearsedRequest(method: "GET", target: "/\(method ?? "")\(escaped)", headers: headers)
        complete(&request)
        return request
    }

    private func messages(_ rehearsal: Rehearsal) throws(TestProblem) -> [[UInt8]] {
        if let bytes { return [bytes] }
        let json = json.isEmpty ? [Array("{}".utf8)] : json
        guard codec == "proto" else { return json }
        var messages: [[UInt8]] = []
        for message in json {
            let bytes: [UInt8]?
            do throws(MessageError) {
                bytes = try rehearsal.message(json: message, of: method ?? "")
            } catch {
                throw TestProblem(text: "\(error)")
            }
            guard let bytes else { throw TestProblem(text: "Martlet does not know the types of \(method ?? "")") }
            messages.append(bytes)
        }
        return messages
    }

    private func complete(_ request: inout RehearsedRequest) {
        request.caller = caller
        request.cancelAfter = cancelAfter
        request.listener = listener
        if !headers.contains(where: { $0.name == "host" }) { request.headers.append(("host", host)) }
    }
}

/// Why a test cannot make its call.
struct TestProblem: Error {
    let text: String
}

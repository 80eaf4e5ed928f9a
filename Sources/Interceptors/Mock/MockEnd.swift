internal import Bytes
internal import Configuration
internal import Protocols
internal import Proxy
internal import RPC

/// How a mock ends a response.
struct MockEnd: Sendable {
    private struct Detail: Sendable {
        let type: String
        let json: MockJSON?
        let value: [UInt8]
    }

    let code: RPCCode
    private let message: MockText
    private let details: [Detail]
    private let trailers: MockFields

    /// The end of a response without an error.
    static let success = MockEnd(.ok)
    /// What callers of RPC are told in place of a redirection, which they do not follow.
    static let redirected = MockEnd(.unknown, "the upstream responds with a redirection")

    private init(_ code: RPCCode, _ message: String = "") {
        self.code = code
        self.message = MockText(message, at: .start, into: Diagnostics())
        (details, trailers) = ([], MockFields())
    }

    /// Reads the options and reports what is wrong with them.
    init(_ section: Section) {
        code = RPCCode(name: section.string("code")) ?? .ok
        let text = section.string("message")
        message = MockText(text, at: section.mark(of: "message"), into: section.diagnostics)
        details = section.sections("details").map { detail in
            let json = detail.node("json").map { MockJSON($0, into: detail.diagnostics) }
            return Detail(type: detail.string("type"), json: json, value: detail.base64("base64") ?? [])
        }
        trailers = MockFields("trailers", of: section)
        for key in ["message", "details"] where code == .ok && section.has(key) {
            section.reportUnused(key, without: "code")
        }
    }

    /// Whether the response ends without an error.
    var isSuccess: Bool { code == .ok }

    /// The error; none for success.
    func error(_ context: MockContext) throws(RPCError) -> RPCError? {
        guard code != .ok else { return nil }
        var error = RPCError(code, String(decoding: message.value(context), as: UTF8.self))
        for detail in details {
            var value = detail.value
            if let json = detail.json {
                let queue = ByteQueue()
                json.append(context, to: queue)
                value = try context.call.message(json: queue.readable, ofType: detail.type)
            }
            error.details.append(ErrorDetail(type: detail.type, value: value))
        }
        return error
    }

    /// The trailers.
    func trailers(_ context: MockContext) -> [(name: [UInt8], value: [UInt8])] { trailers.values(context) }
}

/// Headers or trailers whose values are texts of a mock.
struct MockFields: Sendable {
    private let fields: [(name: [UInt8], value: MockText)]

    /// No fields.
    init() { fields = [] }

    init(_ key: String, of section: Section) {
        fields = section.map(key).map { entry in
            // What a body of plain HTTP is, nobody else says.
            if entry.name.lowercased() != "content-type" || key != "headers" {
                _ = HeaderName.checked(entry.name, at: entry.nameMark, into: section.diagnostics)
            }
            let text = MockText(entry.text, at: entry.mark, allowsControls: false, into: section.diagnostics)
            return (Array(entry.name.lowercased().utf8), text)
        }
    }

    var isEmpty: Bool { fields.isEmpty }

    /// The fields for a call; control characters that a message has have no place there, nor has the content type in RPC.
    func values(_ context: MockContext) -> [(name: [UInt8], value: [UInt8])] {
        let isPlain = context.call.rpcProtocol == .http
        return fields.filter { isPlain || !$0.name.span.equals("content-type") }.map { field in
            (field.name, Self.visible(field.value.value(context)))
        }
    }

    /// A value without control characters.
    static func visible(_ value: [UInt8]) -> [UInt8] {
        value.map { $0 < 0x20 || $0 == 0x7f ? UInt8(ascii: " ") : $0 }
    }
}

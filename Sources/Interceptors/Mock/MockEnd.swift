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

    /// What a call is told whose attempts come to rules that do not go together.
    static let mixed = MockEnd(.internal, "a mock cannot respond to attempts of one call with raw bytes and without")

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

    /// The details in JSON, as far as they are the same for all calls.
    var constants: [(type: String, json: [UInt8])] {
        details.compactMap { detail in detail.json.map { (detail.type, $0.constant) } }
    }

    /// Whether the response ends without an error.
    var isSuccess: Bool { code == .ok }

    /// The error; none for success.
    func error(_ context: MockContext) throws(RPCError) -> RPCError? {
        guard code != .ok else { return nil }
        var error = RPCError(code, String(decoding: message.value(context, isShown: true), as: UTF8.self))
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

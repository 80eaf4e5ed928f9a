internal import Bytes
internal import Configuration
internal import Protocols
internal import Proxy
internal import RPC

/// A response of plain HTTP.
struct MockPlainResponse: Sendable {
    let status: Int
    private let fields: MockFields
    private let body: MockText?
    let message: MockMessage?
    private let location: MockText?

    /// Reads the options of a response; none if the response is the error that its code says.
    init?(_ section: Section, _ message: MockMessage?, isError: Bool) {
        guard !isError || section.has("status") || section.has("body") else { return nil }
        let target = section.has("redirect") ? section.section("redirect") : nil
        status = target?.integer("status") ?? section.integer("status")
        fields = MockFields("headers", of: section)
        body =
            section.has("body")
            ? MockText(section.string("body"), at: section.mark(of: "body"), into: section.diagnostics) : nil
        self.message = message
        location = target.map { target in
            MockText(target.string("to"), at: target.mark(of: "to"), allowsControls: false, into: target.diagnostics)
        }
        for key in ["status", "body"] where target != nil && section.has(key) {
            section.reportConflict("redirect", key)
        }
    }

    /// Reads a recorded response.
    init(recorded section: Section) {
        status = section.has("status") ? section.integer("status") : 200
        fields = MockFields("headers", of: section)
        (body, location) = (nil, nil)
        message = .bytes(section.base64("body_base64") ?? Array(section.string("body").utf8))
    }

    /// Whether it sends the caller elsewhere.
    var isRedirect: Bool { location != nil }

    /// The texts in its body.
    var texts: [MockText] { body.map { [$0] } ?? message?.texts ?? [] }

    /// The body for a call.
    func body(_ context: MockContext) throws(RPCError) -> [UInt8] {
        if let body { return body.value(context) }
        guard let message else { return [] }
        return try message.payload(context)
    }

    /// Sends the response.
    func send(_ bytes: [UInt8], _ context: MockContext, to exchange: LocalExchange) {
        var headers = fields.values(context)
        let hasType = headers.contains { $0.name.span.equals("content-type") }
        if body == nil, !hasType { headers += message?.plainHeaders ?? [] }
        if let location {
            headers.append((Array("location".utf8), MockFields.visible(location.value(context))))
        }
        exchange.respond(status: status, headers: headers, body: bytes.span)
    }
}

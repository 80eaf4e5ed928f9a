internal import Bytes
internal import Configuration
internal import HTTP
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
        fields = MockFields("headers", of: section, areRecorded: true)
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
        let payload = try message.payload(context)
        if !payload.isEmpty, let coding = rejectedCoding(context) {
            let name = String(decoding: coding, as: UTF8.self)
            let problem = "the response was recorded with the content coding \(name), which the caller does not accept"
            throw RPCError(.unimplemented, "\(problem); send accept-encoding: \(name)")
        }
        return payload
    }

    /// The content coding of a recorded response, if the caller does not accept it.
    private func rejectedCoding(_ context: MockContext) -> [UInt8]? {
        guard let coding = fields.values(context).first(where: { $0.name.span.equals("content-encoding") })?.value
        else { return nil }
        let request = context.call.request
        let values = (0..<request.count).filter { request.name(at: $0).equals("accept-encoding") }
        let lists = values.map { request.value(at: $0).array }
        let accepted = AcceptedCodings(lists.isEmpty ? nil : Array(lists.joined(separator: [UInt8(ascii: ",")])))
        return accepted.accepts(coding) ? nil : coding
    }

    /// Sends the response.
    func send(_ bytes: [UInt8], _ context: MockContext, to exchange: LocalExchange) {
        var headers = fields.values(context)
        // The fields of a response without a body describe a compressed one, which this caller does not accept.
        if rejectedCoding(context) != nil {
            headers.removeAll { $0.name.span.equals("content-encoding") || $0.name.span.equals("content-length") }
        }
        let hasType = headers.contains { $0.name.span.equals("content-type") }
        if body == nil, !hasType { headers += message?.plainHeaders ?? [] }
        if let location {
            headers.append((Array("location".utf8), MockFields.visible(location.value(context))))
        }
        exchange.respond(status: status, headers: headers, body: bytes.span)
    }
}

public import Time

/// A request that Martlet makes by itself, when something asks for it by its name.
public struct CallSettings: Equatable, Sendable {
    /// The name that asks for it.
    public let name: String
    /// Where it goes.
    public let url: CallURL
    /// The method.
    public let method: String
    /// The values that whoever has it made gives, in the order of the file.
    public let parameters: [CallParameterSettings]
    /// Parameters behind the query of the URL, in the order of the file; the values are templates.
    public let query: [NamedString]
    /// Headers in the order of the file; the values are templates.
    public let headers: [NamedString]
    /// What is sent, if anything is.
    public let body: CallBodySettings?
    /// The content type instead of the one that the kind of body has.
    public let contentType: MarkedString?
    /// The longest time from the beginning to the end of the response; none is no limit.
    public let timeout: Duration?
    /// The largest body of a response that is read, in bytes.
    public let limit: Int
    /// The server, as pools of connections know it; none if the URL or what is said of TLS is wrong.
    public let server: UpstreamSettings?
    /// How the server is spoken to over TLS; none where the URL says clear text.
    public let tls: UpstreamTLSSettings?
    /// Where the file names the call.
    @NotCompared public private(set) var mark: Mark
    /// Where the URL stands.
    @NotCompared public private(set) var urlMark: Mark

    static let options = [
        Option(
            "url",
            .string,
            required: true,
            example: "https://id.example/login",
            """
            The URL of the request. The path and the query are templates. Martlet escapes the values of a call \
            in them.
            """
        ),
        Option("method", .string, example: "PUT", "The method. The default is POST with a body and GET without one."),
        Option(
            "parameters",
            .named(CallParameterSettings.options),
            """
            The values that the request of a caller gives, by name. `{name}` stands for one in `url`, `query`, `headers` \
            and `body`. An entry without its value is left out.
            """
        ),
        Option("query", .map, "Parameters to append to the query of the URL. The values are templates."),
        Option("headers", .map, "Headers to send. The values are templates."),
        Option("body", .section(CallBodySettings.options), "The body to send. The default is no body."),
        Option(
            "content_type",
            .string,
            example: "application/cbor",
            """
            Replaces the content type that belongs to the kind of body. Martlet adds the boundary to a multipart \
            type.
            """
        ),
        Option(
            "timeout",
            .timeout,
            default: "10s",
            "The time limit from the start of the call to the end of the response."
        ),
        Option("limit", .size(in: 1...1 << 30), default: "1MiB", "The size limit of the body of a response."),
        Option("tls", .section(UpstreamTLSSettings.options), "The TLS settings for an https:// server."),
        Option(
            "allow_clear_text",
            .bool,
            default: "false",
            "Allows the call to go to another machine without TLS."
        ),
    ]

    /// Reads a call, and reports what is wrong with it.
    init(_ named: NamedSection) {
        let section = named.section
        name = named.name
        mark = named.mark
        urlMark = section.mark(of: "url")
        url = Self.url(section)
        method = Self.method(section)
        parameters = CallParameterSettings.all(section)
        query = section.map("query")
        headers = section.map("headers")
        body = section.has("body") ? CallBodySettings(section.section("body")) : nil
        contentType = section.marked("content_type")
        timeout = section.duration("timeout")
        limit = section.size("limit")
        let tls = UpstreamTLSSettings(section.section("tls"))
        self.tls = url.server.scheme == .https ? tls : nil
        if self.tls == nil, section.has("tls") {
            section.report(
                """
                \"tls\" has no effect, because \(url.server) is in clear text; write url: https://host, or remove \
                \"tls\"
                """,
                at: "tls"
            )
        }
        server = UpstreamSettings(
            server: "\(url.server)",
            of: section,
            at: section.mark(of: "url"),
            into: Diagnostics()
        )
        Name.check(named.name, at: named.mark, into: section.diagnostics)
        Self.checkContentType(contentType, body, section)
    }

    private static func url(_ section: Section) -> CallURL {
        guard let text = section.string(ifGiven: "url") else { return .reported }
        do throws(UpstreamURL.Malformed) {
            let url = try CallURL(text)
            if url.isExposed, !section.bool("allow_clear_text") {
                let problem = "the call would go to \(url.server) in clear text"
                section.report("\(problem); write https://, or add allow_clear_text: true to allow it", at: "url")
            }
            return url
        } catch {
            section.report(error.message, at: "url")
            return .reported
        }
    }

    private static func method(_ section: Section) -> String {
        guard let method = section.string(ifGiven: "method") else { return section.has("body") ? "POST" : "GET" }
        // Methods are told apart by case (RFC 9110 §9.1), and none that is registered has small letters.
        let isGood = method.utf8.allSatisfy { 0x41...0x5a ~= $0 || $0 == 0x2d || $0 == 0x5f }
        if !isGood || method.isEmpty || method == "CONNECT" {
            section.report(
                "\"method\" cannot be \(Diagnostic.quote(method)); write a method in capitals, such as GET or POST",
                at: "method"
            )
        }
        return method
    }

    private static func checkContentType(_ type: MarkedString?, _ body: CallBodySettings?, _ section: Section) {
        guard let type = type?.text.lowercased() else { return }
        if !section.has("body") {
            section.reportUnused("content_type", without: "body")
        } else if case .multipart = body, !type.hasPrefix("multipart/") || type.contains("boundary=") {
            let advice = "write a type such as multipart/mixed, without a boundary"
            section.report("\"content_type\" must be a multipart type; \(advice)", at: "content_type")
        }
    }
}

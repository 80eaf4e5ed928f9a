internal import Bytes
internal import HTTP
internal import Telemetry

/// What is asked of the admin socket.
struct AdminRequest {
    let method: String
    let path: String
    /// The parameters of the query; nil if an escape in it is not valid.
    let query: AdminQuery?
    /// Why the request is rejected, if a web page may be behind it that is not one of ours; nil if none can be.
    let originError: String?
    /// Whether `accept` names HTML, as that of a browser does that opens a page.
    let acceptsHTML: Bool
    /// The form of metrics that the reader wants.
    var metricFormat = PrometheusText.Format.prometheus

    /// Whether only the head of the response is asked for.
    var isHead: Bool { method == "HEAD" }
}

extension AdminRequest {
    /// Reads a request that came to an address of this kind.
    init(_ head: HTTPHead, to access: AdminAccess) {
        method = head.method.string
        path = String(decoding: URLPath.normal(head.path), as: UTF8.self)
        query = AdminQuery(head.query)
        metricFormat = PrometheusText.Format(accept: head)
        originError = access.error(for: BrowserOrigin(head))
        acceptsHTML = head.values(of: "accept").contains { Self.namesHTML($0) }
    }

    private static func namesHTML(_ accept: String) -> Bool {
        accept.split(separator: ",").contains { range in
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            return parts.first == "text/html" && !parts.dropFirst().contains { ["q=0", "q=0.0"].contains($0) }
        }
    }
}

extension HTTPHead {
    /// The values of all fields of this name, in order.
    func values(of name: String) -> [String] {
        let name = FieldName(name)
        var values: [String] = []
        var next = first(name)
        while let index = next {
            values.append(value(at: index).string)
            next = first(name, from: index + 1)
        }
        return values
    }
}

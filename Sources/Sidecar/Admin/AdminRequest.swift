internal import Bytes
internal import Configuration
internal import HTTP
internal import Telemetry

/// What is asked of the admin socket.
struct AdminRequest {
    let method: String
    let path: String
    /// The parameters of the query; nil if an escape in it is not valid.
    let query: AdminQuery?
    /// Whether a web page may be behind it: a browser says where the page is from, and one that was given another name
    /// for this address (DNS rebinding) says that name.
    let isFromBrowser: Bool
    /// The form of metrics that the reader wants.
    var metricFormat = PrometheusText.Format.prometheus

    /// Whether only the head of the response is asked for.
    var isHead: Bool { method == "HEAD" }
}

extension AdminRequest {
    /// Reads a request; with `checksHost` it must name this machine.
    init(_ head: HTTPHead, checksHost: Bool) {
        method = head.method.string
        path = head.path.string
        query = AdminQuery(head.query)
        metricFormat = PrometheusText.Format(accept: head)
        let isForeign = checksHost && !Self.isLoopback(head.authority)
        isFromBrowser = isForeign || ["origin", "sec-fetch-site"].contains { head.first(FieldName($0)) != nil }
    }

    private static func isLoopback(_ authority: Span<UInt8>) -> Bool {
        let host = Host.withoutPort(authority).string
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let address = isBracketed ? String(host.dropFirst().dropLast()) : host
        return host == "localhost" || IPAddress(address)?.isLoopback == true
    }
}

internal import Bytes
internal import Configuration
internal import HTTP

/// What is asked of the admin socket.
struct AdminRequest {
    let method: String
    let path: String
    /// Whether a web page may be behind it: a browser says where the page is from, and one that was given another name
    /// for this address (DNS rebinding) says that name.
    let isFromBrowser: Bool

    init(_ head: HTTPHead, checksHost: Bool) {
        method = head.method.string
        path = head.path.string
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

/// What the admin socket sends back.
struct AdminResponse {
    var status = 200
    var contentType = "text/plain; charset=utf-8"
    var body: [UInt8] = []
    var allow: String?

    static func text(_ text: String, status: Int = 200) -> AdminResponse {
        AdminResponse(status: status, body: Array((text + "\n").utf8))
    }

    static func json(_ queue: ByteQueue) -> AdminResponse {
        AdminResponse(contentType: "application/json", body: queue.readable.array + [UInt8(ascii: "\n")])
    }
}

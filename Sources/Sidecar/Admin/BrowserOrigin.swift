internal import Bytes
internal import Configuration
internal import HTTP

/// Where a request comes from, as far as a browser says so: its fields `origin` and `sec-fetch-site` (Fetch Metadata), which
/// no script can set.
struct BrowserOrigin {
    private let method: String
    private let authority: String
    private let origins: [String]
    private let sites: [String]

    init(_ head: HTTPHead) {
        method = head.method.string
        authority = head.authority.string
        origins = head.values(of: "origin")
        sites = head.values(of: "sec-fetch-site")
    }

    /// Whether a browser sent the request.
    var isFromBrowser: Bool { !origins.isEmpty || !sites.isEmpty }

    /// Whether the request names this machine as its host.
    var isLoopback: Bool {
        let host = Host.withoutPort(Array(authority.utf8).span).string
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let address = isBracketed ? String(host.dropFirst().dropLast()) : host
        return host.lowercased() == "localhost" || IPAddress(address)?.isLoopback == true
    }

    /// Whether the page behind the request was served by the host that the request names, or the user typed its address.
    ///
    /// Typing an address only reads. Browsers without Fetch Metadata send `origin` with whatever may change something.
    var isSameOrigin: Bool {
        guard origins.allSatisfy({ $0 == "http://\(authority)" }) else { return false }
        switch sites {
        case [], ["same-origin"]: return true
        case ["none"]: return ["GET", "HEAD"].contains(method)
        default: return false
        }
    }
}

internal import Configuration

/// How an admin address can be reached, which decides what a browser may ask there.
enum AdminAccess {
    /// A port of this machine: DNS rebinding lets a web page name another host for it.
    case loopback
    /// A Unix socket, whose mode says who may connect.
    case unix
    /// A port that other machines reach.
    case remote

    init(_ address: ListenAddress) {
        self = if case .tcp = address { address.isLocal ? .loopback : .remote } else { .unix }
    }

    /// Why a request is rejected that a web page may be behind; nil if none can be, or the page is one of ours.
    func error(for origin: BrowserOrigin) -> String? {
        guard self != .loopback || origin.isLoopback else {
            return "the request names another host; write http://127.0.0.1 or http://localhost, and the port"
        }
        guard origin.isFromBrowser else { return nil }
        guard self != .remote else { return "requests from web pages are not allowed" }
        let isOurs = origin.isSameOrigin && origin.isLoopback
        return isOurs
            ? nil : "requests from other web pages are not allowed; open the admin address in the browser itself"
    }
}

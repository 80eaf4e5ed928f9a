internal import Configuration
internal import Events
private import Glibc

/// How an admin address can be reached, which decides what a browser may ask there.
enum AdminAccess {
    /// A port of this machine: DNS rebinding lets a web page name another host for it.
    case loopback
    /// A Unix socket, whose mode says who may connect.
    case unix
    /// A Unix socket without a file, to which every process of this machine can connect.
    case abstract
    /// A port that other machines reach.
    case remote

    init(_ address: ListenAddress) {
        self =
            switch address {
            case .tcp: address.isLocal ? .loopback : .remote
            case .abstract: .abstract
            case .unix, .systemd: .unix
            }
    }

    /// Whether a process may ask here: on a socket without a file only root and the user of the daemon.
    func allows(_ credentials: PeerCredentials?) -> Bool {
        guard self == .abstract else { return true }
        return credentials.map { $0.uid == 0 || $0.uid == geteuid() } ?? false
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

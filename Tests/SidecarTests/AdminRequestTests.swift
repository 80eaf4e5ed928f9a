import HTTP
import Testing

@testable import Sidecar

/// Which requests the admin pages take for those of a web page.
@Suite struct AdminRequestTests {
    private func isFromBrowser(_ authority: String, checksHost: Bool = true) -> Bool {
        let head = HTTPHead()
        head.setAuthority(Array(authority.utf8).span)
        return AdminRequest(head, checksHost: checksHost).isFromBrowser
    }

    @Test(arguments: [
        "localhost", "localhost:9901", "127.0.0.1", "127.0.0.1:9901", "127.1.2.3:1", "[::1]", "[::1]:9901",
    ])
    func `a request that names this machine is not from a web page`(_ authority: String) {
        #expect(!isFromBrowser(authority))
    }

    @Test(arguments: [
        "evil.example", "evil.example:9901", "10.0.0.1:9901", "[::2]:9901", "[::1]evil.example:80", "[::1", "::1",
        "localhost.evil.example", "127.0.0.1.evil.example:80", "127.0.0.1]", "localhost:evil", "",
    ])
    func `a request that names another host may be from a web page, if the host counts`(_ authority: String) {
        #expect(isFromBrowser(authority))
        #expect(!isFromBrowser(authority, checksHost: false))
    }
}

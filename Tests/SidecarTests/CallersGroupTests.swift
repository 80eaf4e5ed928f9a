import Configuration
import Documents
import Testing

@testable import Sidecar

/// Which sockets go to the group of the programs that may call.
@Suite struct CallersGroupTests {
    private static let directories = ["/run/martlet", "/run/martlet-other"]

    private static func group(_ listener: String, isMember: Bool = true) -> String? {
        let diagnostics = Diagnostics()
        let text = "upstream: http://127.0.0.1:9000\nlisteners: [ \(listener) ]\n"
        let settings = Settings(YAML.parse(Array(text.utf8), into: diagnostics), into: diagnostics)
        let callers = CallersGroup(in: directories, isMember: isMember)
        return settings.listeners.first.flatMap { callers.permissions(of: $0).group }
    }

    @Test(arguments: ["unix:/run/martlet/rpc.sock", "unix:/run/martlet/orders/rpc.sock", "unix:/run/martlet-other/a"])
    func `a socket in a runtime directory belongs to the callers`(address: String) {
        #expect(Self.group("\"\(address)\"") == "_martlet-callers")
    }

    @Test func `the file can name another group`() {
        #expect(Self.group("{ address: \"unix:/run/martlet/rpc.sock\", group: app }") == "app")
    }

    @Test(arguments: ["unix:/srv/rpc.sock", "unix:/run/martlet2/rpc.sock", "unix:@martlet", "127.0.0.1:80"])
    func `other sockets keep the group of the process`(address: String) {
        #expect(Self.group("\"\(address)\"") == nil)
    }

    @Test func `a process outside of the group keeps its own`() {
        #expect(Self.group("\"unix:/run/martlet/rpc.sock\"", isMember: false) == nil)
    }
}

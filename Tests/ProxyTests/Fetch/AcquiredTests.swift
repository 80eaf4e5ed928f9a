import Configuration
import Documents
import Glibc
import Interceptors
import Testing

@testable import Credentials
@testable import Proxy

/// What a configuration names outside of its file is read when it is checked, and found by the workers.
struct AcquiredTests {
    private static func plan(_ yaml: String) -> (Plan, errors: [String]) {
        let diagnostics = Diagnostics()
        let plan = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        return (plan, diagnostics.lines(file: "f"))
    }

    private static let yaml = """
        listen: 127.0.0.1:8080
        upstream: https://orders.example
        interceptors:
          - name: a
            token: { oauth2: { token_url: "https://id.example/token", client_id: me, client_secret: { value: x } } }
          - name: b
            token:
              oauth2: { token_url: "https://id.example/token", client_id: you, client_secret: { value: x } }
              header: x-b
        """

    @Test func `servers with the same settings share one context of TLS`() {
        let (plan, errors) = Self.plan(Self.yaml)
        #expect(errors == [])
        let servers = plan.credentials.compactMap { credential in
            if case .http(let source) = credential.source { source.server } else { nil }
        }
        #expect(servers.count == 2)
        #expect(Set(servers.compactMap { $0.tls.map { ObjectIdentifier($0.context) } }).count == 1)
    }

    @Test func `a secret that is needed at load is read once`() {
        let path = "/tmp/martlet-acquired-\(getpid())"
        defer { unsafe unlink(path) }
        write("first", to: path)
        let (section, acquired) = (
            Section(Node(.mapping([]), at: .start), Secret.options, into: Diagnostics()), Acquired()
        )
        #expect(acquired.text(of: .file(path), section) == Array("first".utf8))
        write("second", to: path)
        #expect(acquired.text(of: .file(path), section) == Array("first".utf8))
        #expect(Acquired().text(of: .file(path), section) == Array("second".utf8))
    }

    @Test func `a file that is not there is an error wherever it is named`() {
        let token =
            #"token: { oauth2: { token_url: "https://id.example/token", client_id: me, client_secret: { value: x }, tls: { ca: /nowhere } }, header: x-NAME }"#
        let chain = ["a", "b"].map { "  - { name: \($0), \(token.replacing("NAME", with: $0)) }" }.joined(
            separator: "\n"
        )
        let (_, errors) = Self.plan(
            "listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:9000\ninterceptors:\n\(chain)\n"
        )
        #expect(errors.count == 2)
        #expect(errors.allSatisfy { $0.contains("cannot read /nowhere: ") })
    }

    private func write(_ text: String, to path: String) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        _ = unsafe Array(text.utf8).withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
    }
}

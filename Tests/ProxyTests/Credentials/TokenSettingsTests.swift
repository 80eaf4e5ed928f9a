import Configuration
import Documents
import Glibc
import Interceptors
import Testing

@testable import Credentials
@testable import Proxy

/// What is found wrong with the settings of a token, before any call has to find out.
@Suite struct TokenSettingsTests {
    private func errors(_ options: String) -> [String] {
        let diagnostics = Diagnostics()
        let yaml = "listen: 127.0.0.1:1\nupstream: http://127.0.0.1:2\ninterceptors: [{token: {\(options)}}]\n"
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        return diagnostics.sorted.map(\.message)
    }

    private func oauth2(_ options: String) -> String {
        "oauth2: {token_url: \"http://127.0.0.1:1/t\", \(options)}"
    }

    private let bytes = "is empty, larger than 64 KiB, or not valid in a header"

    @Test func `a text that is no token is rejected`() {
        #expect(errors("value: ''") == ["the token \(bytes)"])
        #expect(errors(#"value: "a\nb""#) == ["the token \(bytes)"])
        unsafe setenv("TOKEN_SETTINGS_EMPTY", " ", 1)
        #expect(errors("env: TOKEN_SETTINGS_EMPTY") == ["the environment variable TOKEN_SETTINGS_EMPTY \(bytes)"])
    }

    @Test func `hosts are written as upstreams have them`() {
        #expect(errors("value: a, hosts: [127.0.0.1]") == [])
        #expect(errors("value: a, hosts: ['127.0.0.1:2']") == [])
        #expect(errors("value: a, hosts: []").contains { $0.contains("is an empty list") })
        for wrong in ["*", "*.0.0.1", "http://127.0.0.1"] {
            #expect(
                errors("value: a, hosts: ['\(wrong)', 127.0.0.1]").contains {
                    $0.contains("\"\(wrong)\" is not a valid host")
                }
            )
        }
        let other = errors("value: a, hosts: [api.example]")
        #expect(other == ["the token cannot be sent to http://127.0.0.1:2, which is not in \"hosts\""])
    }

    @Test func `what a client shows has to be complete`() {
        #expect(errors(oauth2("client_id: me, client_secret: {value: s}")) == [])
        let without = errors(oauth2("client_secret: {value: s}"))
        #expect(without == ["\"client_secret\" has no effect without \"client_id\"; add \"client_id\", or remove it"])
        let bare = errors(oauth2("client_id: me, auth: post"))
        #expect(bare == ["\"auth: post\" needs a secret; add client_secret: { file: PATH }"])
        let twice = errors(oauth2("client_id: me, parameters: {grant_type: password}"))
        #expect(twice == ["\"parameters\" cannot contain grant_type, which Martlet sends already; remove it"])
    }

    @Test func `a key that is in the file has to fit`() {
        let found = errors("jwt: {key: {value: nonsense}}")
        #expect(found.count == 1 && found[0].hasPrefix("the key cannot sign: "), "\(found)")
    }

    @Test(arguments: [
        ("exec: {command: []}", "command"), ("jwt: {key: {exec: []}}", "exec"),
        ("oauth2: {token_url: 'http://127.0.0.1:1/t', client_id: a, client_secret: {exec: []}}", "exec"),
        ("value: a, phantom: {value: {exec: []}}", "exec"),
    ])
    func `a list that must be given must not be empty`(_ options: String, _ key: String) {
        let found = errors(options)
        #expect(found.contains { $0.hasPrefix("\"\(key)\" is an empty list; write ") }, "\(found)")
    }

    @Test func `a program is named by its path, apart from its arguments`() {
        #expect(errors("exec: {command: [/bin/echo, hi]}") == [])
        #expect(
            errors("exec: {command: [echo, hi]}").first?.hasPrefix(
                "\"echo\" is not an absolute path, and Martlet does not search PATH"
            ) == true
        )
        #expect(errors("exec: {command: /bin/echo hi}").first?.contains("and Martlet uses no shell") == true)
    }

    @Test func `Kubernetes is asked for what it gives`() {
        #expect(errors("kubernetes: {service_account: a, lifetime: 10m}") == [])
        let short = errors("kubernetes: {service_account: a, lifetime: 599s}")
        #expect(short == ["\"lifetime\" cannot be shorter than 10m, the minimum of Kubernetes; write for example 1h"])
    }

    @Test func `nobody can show nothing`() {
        let found = errors("value: a, phantom: {value: {value: ''}}")
        #expect(found == ["the phantom token is empty; write a value"])
    }
}

/// Secrets, as people write them down.
@Suite struct SecretTests {
    private func secret(_ yaml: String) -> [UInt8]? {
        let diagnostics = Diagnostics()
        let section = Section(YAML.parse(Array(yaml.utf8), into: diagnostics)!, Secret.options, into: diagnostics)
        return Secret(section)?.text(section)
    }

    @Test(arguments: ["secret", "secret\n", "secret\r\n", " \tsecret \n\n"])
    func `the line break behind a secret is no part of it`(_ content: String) {
        let file = TemporaryFile(Array(content.utf8))
        #expect(secret("file: \(file.path)") == Array("secret".utf8))
        unsafe setenv("SECRET_TESTS_SECRET", content, 1)
        #expect(secret("env: SECRET_TESTS_SECRET") == Array("secret".utf8))
    }

    @Test func `a secret in the configuration is what is written`() {
        #expect(secret("value: ' secret '") == Array(" secret ".utf8))
    }
}

import Bytes
import Documents
import Testing

@testable import Credentials
@testable import Proxy

/// Tokens that are made of what a call says of its user: whoever says nothing, or something that could be read in two ways,
/// has none, wherever that stands.
@Suite struct TokenUserTests {
    /// Every place in which a token can be made of `x-user`.
    static let places = [
        "exec: {command: [/bin/x, '{header:x-user}']}",
        "exec: {command: [/bin/x, 'for {header:x-user}']}",
        "exchange: {token_url: 'http://127.0.0.1:1/t', subject_token: '{header:x-user}'}",
        "exchange: {token_url: 'http://127.0.0.1:1/t', subject_token: fixed, actor_token: '{header:x-user}'}",
        "exchange: {token_url: 'http://127.0.0.1:1/t', subject_token: fixed, resource: 'a/{header:x-user}'}",
        "oauth2: {token_url: 'http://127.0.0.1:1/t', parameters: {user: '{header:x-user}'}}",
        "oauth2: {token_url: 'http://127.0.0.1:1/t', parameters: {user: 'id={header:x-user}'}}",
        "oauth2: {token_url: 'http://127.0.0.1:1/t', audience: '{header:x-user}'}",
        "jwt: {algorithm: EdDSA, key: {file: /k}, subject: '{header:x-user}'}",
        "jwt: {algorithm: EdDSA, key: {file: /k}, claims: {user: 'u:{header:x-user}'}}",
        "jwt: {algorithm: EdDSA, key: {file: /k}, claims: {list: [a, {user: '{header:x-user}'}]}}",
        "call: {name: path}", "call: {name: url}", "call: {name: query}", "call: {name: header}", "call: {name: text}",
        "call: {name: json}", "call: {name: form}", "call: {name: multipart}",
    ]
    /// Those in which a value has to be UTF-8, since it comes to stand in a text.
    static let texts = ["exec", "jwt", "json"]

    private static func yaml(_ place: String) -> String {
        let url = "http://127.0.0.1:1"
        return """
            \(plain)
            calls:
              path: {url: '\(url)/{header:x-user}'}
              url: {url: '\(url)/?user={header:x-user}'}
              query: {url: '\(url)/', query: {user: '{header:x-user}'}}
              header: {url: '\(url)/', headers: {x-user: '{header:x-user}'}}
              text: {url: '\(url)/', body: {text: 'for {header:x-user}'}}
              json: {url: '\(url)/', body: {json: {user: ['{header:x-user}']}}}
              form: {url: '\(url)/', body: {form: {user: '{header:x-user}'}}}
              multipart: {url: '\(url)/', body: {multipart: [{name: user, value: '{header:x-user}'}]}}
            interceptors: [{token: {\(place)}}]

            """
    }

    /// Makes a call with these fields; what is ordered for it, or the status that it gets.
    private func ask(_ harness: ProxyHarness, _ fields: [[UInt8]]) -> CredentialSource? {
        let caller = harness.caller()
        var request = Array("GET /p HTTP/1.1\r\nhost: a\r\n".utf8)
        for field in fields { request += Array("x-user: ".utf8) + field + Array("\r\n".utf8) }
        caller.send(request + Array("\r\n".utf8))
        harness.settle()
        guard let kind = harness.credentialRequests.drain().first else {
            status = String(caller.head().dropFirst(9).prefix(3))
            return nil
        }
        #expect(kind.hasPrefix("fetch "))
        caller.reset()
        return harness.credentialRequests.source
    }

    private final class Status { var text = "" }
    private let last = Status()
    private var status: String {
        get { last.text }
        nonmutating set { last.text = newValue }
    }

    @Test(arguments: places)
    func `a call without a user has no token`(_ place: String) {
        runProxy(Self.yaml(place)) { harness in
            for fields in [[], [""]] {
                #expect(ask(harness, fields.map { Array($0.utf8) }) == nil)
                #expect(status == "503")
            }
            #expect(ask(harness, [Array("bob".utf8)]) != nil)
        }
    }

    @Test(arguments: places)
    func `a call that names its user twice is rejected`(_ place: String) {
        runProxy(Self.yaml(place)) { harness in
            for users in [["bob", "eve"], ["bob", "bob"], ["", "bob"]] {
                #expect(ask(harness, users.map { Array($0.utf8) }) == nil)
                #expect(status == "400")
            }
        }
    }

    @Test(arguments: places)
    func `two users never share a token, whatever their names are made of`(_ place: String) {
        runProxy(Self.yaml(place)) { harness in
            let names: [[UInt8]] = [
                Array("K".utf8), Array("\u{212a}".utf8), Array("ren\u{e9}".utf8), Array("rene\u{301}".utf8),
                Array("bob\u{fffd}".utf8), Array("bob".utf8) + [0xff], Array("bob".utf8) + [0xfe],
                Array("bob".utf8) + [0xc3],
            ]
            var sources: [CredentialSource] = []
            for name in names {
                let isText = String(validating: name, as: UTF8.self) != nil
                guard let source = ask(harness, [name]) else {
                    #expect(!isText && status == "503")
                    continue
                }
                #expect(isText || !Self.texts.contains { place.contains($0) })
                #expect(!sources.contains(source), "\(name)")
                sources.append(source)
            }
            #expect(sources.count >= 5)
        }
    }

    @Test(arguments: ["Bearer one", "bearer one", "BEARER  one", "one"])
    func `a scheme before a token is taken away, in any case`(_ value: String) {
        runProxy(Self.yaml(Self.places[2])) { harness in
            guard case .http(let source)? = ask(harness, [Array(value.utf8)]) else {
                Issue.record("nothing is asked for")
                return
            }
            #expect(source.form.first { $0.name == "subject_token" }?.value == .value(Array("one".utf8)))
            #expect(ask(harness, [Array("bearer ".utf8)]) == nil)
        }
    }
}

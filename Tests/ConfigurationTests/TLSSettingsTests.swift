import Configuration
import Testing

/// What the file says about TLS.
struct TLSSettingsTests {
    private func upstream(_ tls: String, url: String = "https://a.example") -> Reading {
        Reading("listen: 127.0.0.1:1\nupstreams: { a: { url: \"\(url)\", tls: \(tls) } }\n")
    }

    @Test func `an https upstream trusts whom the system trusts, if nothing is said`() throws {
        let upstream = try #require(
            Reading("listen: 127.0.0.1:1\nupstream: https://a.example\n").settings.upstreams.first
        )
        let tls = try #require(upstream.tls)
        #expect(tls.authorities == nil && tls.serverName == nil && tls.identity == nil)
        #expect(tls.pins == [] && tls.certificates == [] && tls.match == .any)
        #expect(tls.minimum == .tls12 && !tls.isInsecure)
        #expect(upstream.isConfidential)
        #expect(upstream.authority == "a.example")
    }

    @Test func `all of it can be said`() throws {
        let reading = upstream(
            """
            { ca: ca.pem, server_name: b.example, pins: [p, q], certificates: c.pem, match: all, minimum: 1.3,
              client_certificate: m.pem, client_key: m.key }
            """
        )
        #expect(reading.errors == [])
        let tls = try #require(reading.settings.upstreams.first?.tls)
        #expect(tls.authorities?.place == .path("ca.pem") && tls.serverName == "b.example")
        #expect(tls.pins.map(\.text) == ["p", "q"] && tls.certificates.map(\.text) == ["c.pem"] && tls.match == .all)
        #expect(tls.minimum == .tls13)
        #expect(tls.identity?.certificate.place == .path("m.pem") && tls.identity?.key.place == .path("m.key"))
    }

    @Test(arguments: [
        (
            "{ insecure: true }", "http://a.example",
            "\"tls\" has no effect, because http://a.example:80 is in clear text; write url: https://host, or remove \"tls\""
        ),
        (
            "{}", "unix:/a",
            "\"tls\" has no effect, because unix:/a is in clear text; write url: https://host, or remove \"tls\""
        ),
        (
            "{ client_key: k }", "https://a",
            "\"client_key\" has no effect without \"client_certificate\"; add \"client_certificate\", or remove it"
        ),
        (
            "{ client_certificate: c }", "https://a",
            "\"client_certificate\" has no effect without \"client_key\"; add \"client_key\", or remove it"
        ),
        (
            "{ insecure: true, pins: [a, b] }", "https://a",
            "\"insecure\" accepts any certificate, so \"pins\" has no effect; remove one of them"
        ),
        (
            "{ insecure: true, ca: a.pem }", "https://a",
            "\"insecure\" accepts any certificate, so \"ca\" has no effect; remove one of them"
        ),
        (
            "{ match: all }", "https://a",
            "\"match\" has no effect without \"pins\" or \"certificates\"; add one of them, or remove it"
        ),
        ("{ minimum: 1.1 }", "https://a", "\"minimum\" cannot be \"1.1\"; did you mean \"1.2\"?"),
        (
            "{ server_name: \"a:443\" }", "https://a",
            "\"a:443\" is not a valid host; write for example server_name: api.example"
        ),
    ])
    func `what does not go together is rejected`(_ tls: String, _ url: String, _ error: String) {
        let errors = upstream(tls, url: url).errors
        #expect(errors.count == 1)
        #expect(errors.first?.hasSuffix(": " + error) == true, "\(errors)")
    }

    @Test func `nothing verified is nothing confidential, and is warned of`() {
        let reading = upstream("{ insecure: true }")
        #expect(reading.settings.upstreams.first?.isConfidential == false)
        #expect(reading.errors == [])
        #expect(
            reading.warnings == [
                "2:62: the certificate of the upstream is not verified; remove \"insecure\" as soon as you can"
            ]
        )
    }

    @Test func `an empty list of pins is no list`() {
        #expect(upstream("{ pins: [] }").errors == ["2:58: \"pins\" is an empty list; write an item, or remove it"])
    }

    @Test func `a single pin is warned of`() {
        let warning = "2:58: there is only one pin; add the pin of a second key that is kept elsewhere"
        #expect(upstream("{ pins: p }").warnings == [warning])
        #expect(upstream("{ pins: [p, q] }").warnings == [])
    }

    @Test func `a listener has a certificate and its key`() throws {
        func listener(_ tls: String) -> Reading {
            Reading("listeners: [ { address: 127.0.0.1:1, tls: \(tls) } ]\nupstream: http://a\n")
        }
        let tls = try #require(listener("{ certificate: c, key: k, client_ca: a }").settings.listeners.first?.tls)
        #expect(tls.files.map(\.place) == [.path("c"), .path("k"), .path("a")] && tls.minimum == .tls12)
        #expect(
            listener("{ certificate: c }").errors == [
                "1:43: \"key\" is missing; add the file or a mapping, for example key: server.key"
            ]
        )
        #expect(Reading("listen: 127.0.0.1:1\nupstream: http://a\n").settings.listeners.first?.tls == nil)
    }
}

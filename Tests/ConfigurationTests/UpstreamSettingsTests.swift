import Configuration
import Testing
import Time

/// What an upstream can be told beyond where it is.
@Suite struct UpstreamSettingsTests {
    private func reading(_ options: String) -> Reading {
        Reading("listen: 127.0.0.1:1\nupstreams:\n  a: { url: http://a, \(options) }\n")
    }

    @Test func `all that can be said is read`() throws {
        let reading = reading(
            "defaults: { headers: { User-Agent: m/1 }, query: { b: x, a: y } }, cookies: expose, connect_wait: 5s,"
                + " timeouts: { attempt: 250ms }, retry_budget: { ratio: 0.05, min_per_second: 3 }"
        )
        #expect(reading.errors == [])
        let upstream = try #require(reading.settings.upstream(named: "a"))
        #expect(upstream.defaults.headers.map(\.name) == ["User-Agent"])
        #expect(upstream.defaults.query.map { "\($0.name)=\($0.text)" } == ["b=x", "a=y"])
        #expect(upstream.cookies == .expose)
        #expect(upstream.connectWait == .seconds(5))
        #expect(upstream.timeouts.attempt == .milliseconds(250))
        #expect(upstream.retryBudget.perThousand == 50)
        #expect(upstream.retryBudget.minimumPerSecond == 3)
    }

    @Test func `no compressions are not the same as any`() {
        let compressions = { reading($0).settings.upstream(named: "a")?.compressions }
        #expect(compressions("cookies: none") == .some(nil))
        #expect(compressions("compressions: []") == [])
        #expect(compressions("compressions: gzip") == [.gzip])
        #expect(compressions("compressions: [identity, br]") == [.identity, .br])
        let advice = "did you mean \"gzip\"?"
        #expect(reading("compressions: gzp").errors == ["3:37: \"compressions\" cannot be \"gzp\"; \(advice)"])
    }

    @Test func `an upstream with other defaults is another upstream`() {
        let upstream = { reading($0).settings.upstream(named: "a") }
        #expect(upstream("defaults: { query: { a: b } }") == upstream("defaults:   { query: { a: b } }"))
        #expect(upstream("defaults: { query: { a: b } }") != upstream("defaults: { query: { a: c } }"))
        #expect(upstream("cookies: jar") != upstream("cookies: none"))
    }

    @Test(arguments: [
        ("cookies: yes", "3:32: \"cookies\" cannot be \"yes\"; expected one of: none, jar, expose"),
        (
            "connect_wait: 0s",
            "3:37: \"connect_wait\" cannot be \"0s\"; write a duration longer than zero such as 250ms, 2s, 5m, 1h, or none"
        ),
        (
            "defaults: { query: { base64: 1 } }",
            "3:44: the query parameter base64 belongs to the Connect protocol; remove it from \"defaults\""
        ),
        (
            "retry_budget: { ratio: 20% }",
            "3:46: \"ratio\" cannot be \"20%\"; write a number from 0 to 10 with at most three decimals, such as 0.2"
        ),
    ])
    func `a mistake is named with its place and what would be right`(_ options: String, _ error: String) {
        #expect(reading(options).errors == [error])
    }

    @Test func `an upstream says what it speaks`() {
        func spoken(_ words: String) -> [UpstreamSettings.WireProtocol]? {
            let reading = Reading("listen: 127.0.0.1:1\nupstreams: {a: {url: \"h2c://a\"\(words)}}\ninterceptors: []\n")
            #expect(reading.errors == [])
            return reading.settings.upstreams.first?.speaks
        }
        #expect(spoken("") == [])
        #expect(spoken(", speaks: same") == [])
        #expect(spoken(", speaks: grpc") == [.grpc])
        #expect(spoken(", speaks: [grpc_web, connect]") == [.grpcWeb, .connect])
        #expect(spoken(", speaks: [grpc_web, grpc_web_text]") == [.grpcWeb, .grpcWebText])
        #expect(spoken(", speaks: [grpc_web_text, connect, grpc_web]") == [.grpcWebText, .connect, .grpcWeb])
    }

    @Test(arguments: [
        (
            "http", "grpc",
            "\"speaks\" cannot be \"grpc\", because http://a:80 is HTTP/1.1; write an h2c:// or https:// URL"
        ),
        (
            "h2c", "[same, grpc]",
            "\"same\" cannot be in a list; write the protocols, or \"same\" alone"
        ),
        (
            "http", "[rest, connect]",
            "\"rest\" cannot be in a list; write the protocols, or \"rest\" alone"
        ),
        (
            "h2c", "grpc_web_text",
            "\"speaks\" cannot have \"grpc_web_text\" without \"grpc_web\"; write [grpc_web, grpc_web_text]"
        ),
        (
            "http", "[grpc_web_text]",
            "\"speaks\" cannot have \"grpc_web_text\" without \"grpc_web\"; write [grpc_web, grpc_web_text]"
        ),
        (
            "h2c", "[grpc, grpc_web_text]",
            "\"speaks\" cannot have \"grpc_web_text\" without \"grpc_web\"; write [grpc_web, grpc_web_text]"
        ),
        (
            "http", "[connect, grpc_web_text]",
            "\"speaks\" cannot have \"grpc_web_text\" without \"grpc_web\"; write [grpc_web, grpc_web_text]"
        ),
        (
            "h2c", "[grpc_web_text, connect]",
            "\"speaks\" cannot have \"grpc_web_text\" without \"grpc_web\"; write [grpc_web, grpc_web_text]"
        ),
        (
            "h2c", "[grpc, connect, grpc_web_text]",
            "\"speaks\" cannot have \"grpc_web_text\" without \"grpc_web\"; write [grpc_web, grpc_web_text]"
        ),
        (
            "h2c", "[grpc_web, grpc_web_text, same]",
            "\"same\" cannot be in a list; write the protocols, or \"same\" alone"
        ),
        (
            "h2c", "[rest, grpc_web, grpc_web_text]",
            "\"rest\" cannot be in a list; write the protocols, or \"rest\" alone"
        ),
        (
            "http", "[grpc_web, grpc_web_text, grpc]",
            "\"speaks\" cannot be \"grpc\", because http://a:80 is HTTP/1.1; write an h2c:// or https:// URL"
        ),
    ])
    func `what an upstream cannot speak is rejected`(_ scheme: String, _ speaks: String, _ error: String) {
        let url = "\"\(scheme)://a\""
        let errors = Reading("listen: 127.0.0.1:1\nupstreams: {a: {url: \(url), speaks: \(speaks)}}\n").errors
        #expect(errors.count == 1)
        #expect(errors.first?.hasSuffix(": " + error) == true, "\(errors)")
    }

    @Test(arguments: [
        ("speaks: grpc, codecs: proto", true, ""), ("speaks: [grpc_web, grpc], codecs: [json, proto]", true, ""),
        ("speaks: connect, codecs: proto", true, ""),
        (
            "speaks: rest, codecs: proto", true,
            "\"codecs\" has no effect with speaks: rest, which is JSON; remove it"
        ),
        ("codecs: proto", true, "\"codecs\" has no effect without \"speaks\"; add \"speaks\", or remove it"),
        (
            "speaks: grpc, codecs: []", true,
            "\"codecs\" is an empty list; write the codecs that the upstream understands, for example [proto], or remove it"
        ),
        (
            "speaks: grpc, codecs: proto", false,
            "\"codecs\" has no effect without \"types\"; add for example types: { files: [/etc/martlet/shop.binpb] }"
        ),
    ])
    func `an upstream says which codecs it understands`(_ options: String, _ hasTypes: Bool, _ error: String) {
        let types = hasTypes ? "types: {files: [/a]}" : ""
        let errors = Reading("listen: 127.0.0.1:1\nupstreams: {a: {url: \"h2c://a\", \(options)}}\n\(types)\n").errors
        #expect(errors.count == (error.isEmpty ? 0 : 1), "\(errors)")
        #expect(errors.allSatisfy { $0.hasSuffix(": " + error) }, "\(errors)")
    }
}

import Documents
import Testing
import Time

@testable import Configuration

/// What the file says of calls that Martlet makes by itself.
struct CallSettingsTests {
    private static let basis = "listen: 127.0.0.1:1\nupstream: http://127.0.0.1:2\n"

    private func read(_ options: String) -> Reading {
        Reading("\(Self.basis)calls: { login: { \(options) } }\n")
    }

    private func body(_ body: String) throws -> CallBodySettings {
        let reading = read("url: https://a, body: { \(body) }")
        #expect(reading.errors == [])
        return try #require(reading.settings.call(named: "login")?.body)
    }

    @Test func `a URL is all that a call needs`() throws {
        let reading = read("url: https://id.example")
        #expect(reading.errors == [] && reading.settings.calls.map(\.name) == ["login"])
        let call = try #require(reading.settings.calls.first)
        #expect("\(call.url.server)" == "https://id.example:443" && call.url.path == "/" && call.url.query == nil)
        #expect(call.method == "GET" && call.body == nil && call.contentType == nil)
        #expect(call.query == [] && call.headers == [])
        #expect(call.timeout == .seconds(10) && call.limit == 1 << 20)
        #expect(call.tls?.minimum == .tls12)
    }

    @Test func `all of it can be said`() throws {
        let reading = Reading(
            """
            \(Self.basis)calls:
              b: { url: "http://127.0.0.1:81?x" }
              a:
                url: "HTTP://api.example:8080/v1/{header:x-user}?a=1&b={env:B}"
                method: PUT
                query: { lang: it, again: "1" }
                headers: { x-client: m }
                body: { text: hello }
                content_type: text/markdown
                timeout: none
                limit: 64KiB
                allow_clear_text: true
            """
        )
        #expect(reading.errors == [] && reading.settings.calls.map(\.name) == ["a", "b"])
        let call = try #require(reading.settings.call(named: "a"))
        #expect("\(call.url.server)" == "http://api.example:8080" && call.url.isExposed)
        #expect(call.url.path == "/v1/{header:x-user}" && call.url.query == "a=1&b={env:B}")
        #expect(call.method == "PUT" && call.contentType?.text == "text/markdown")
        #expect(call.query.map(\.name) == ["lang", "again"] && call.headers.map(\.text) == ["m"])
        #expect(call.timeout == nil && call.limit == 65536 && call.tls == nil)
        let other = try #require(reading.settings.call(named: "b"))
        #expect(other.url.path == "/" && other.url.query == "x" && !other.url.isExposed)
    }

    @Test func `a call with a body is a POST`() {
        #expect(read("url: https://a, body: { text: x }").settings.calls.first?.method == "POST")
        #expect(read("url: https://a, method: GET, body: { text: x }").settings.calls.first?.method == "GET")
    }

    @Test func `every kind of body is reported from the others`() throws {
        #expect(try body("text: a") == .text(MarkedString("a", at: .start)))
        #expect(try body("data: { base64: AQID }") == .base64(MarkedString("AQID", at: .start)))
        #expect(try body("data: { file: /a }") == .file(MarkedString("/a", at: .start)))
        #expect(try body("file: /a") == .file(MarkedString("/a", at: .start)))
        #expect(try body("json: [1, a]").isJSON("[1,\"a\"]"))
        #expect(try body("json: null").isJSON("null"))
        #expect(try body("form: { b: 1, a: x }").parameters == ["b=1", "a=x"])
        let parts = try body("multipart: [{ name: a, value: b }, { name: f, file: /d/e.png }]").parts
        #expect(parts.map(\.name) == ["a", "f"] && parts.map(\.type) == [nil, nil])
        #expect(parts.last?.content == .file(MarkedString("/d/e.png", at: .start), name: "e.png"))
        let named = try body("multipart: [{ name: f, file: /d/e, filename: g, type: image/png }]").parts
        #expect(named.first?.content == .file(MarkedString("/d/e", at: .start), name: "g"))
        #expect(named.first?.type?.text == "image/png")
    }

    @Test(arguments: [
        ("", ["k[]=a", "k[]=1", "e=", "t=1", "f=0", "q=true", "n=1.50"]),
        ("bools: literals", ["k[]=a", "k[]=true", "e=", "t=true", "f=false", "q=true", "n=1.50"]),
        ("arrays: plain", ["k=a", "k=1", "e=", "t=1", "f=0", "q=true", "n=1.50"]),
    ])
    func `lists and truth are written as the server wants them`(_ style: String, _ parameters: [String]) throws {
        let values = #"{ k: [a, true], none: [], e: "", t: true, f: false, q: "true", n: 1.50 }"#
        #expect(try body("urlencoded: { values: \(values), \(style) }").parameters == parameters)
    }

    @Test(arguments: [
        ("/login", "a call needs an absolute URL; write for example https://id.example/login"),
        ("id.example", "a call needs an absolute URL; write for example https://id.example/login"),
        ("h2c://a", "\"h2c://\" is not supported; write https:// or http:// and a host"),
        ("https://u:hunter2@a/b", "the URL of a call cannot contain a user; put credentials into \"headers\""),
        ("https://u:hunter2@\u{301}a/b", "the URL of a call cannot contain a user; put credentials into \"headers\""),
        ("https://a#\u{301}c", "the URL of a call cannot contain a fragment; write %23 for a #"),
        ("https://a/b#\u{301}c", "the URL of a call cannot contain a fragment; write %23 for a #"),
        (
            "https://{header:host}/a",
            "the host of a call cannot be a template; use templates only in the path and the query"
        ),
        ("https://a/b#c", "the URL of a call cannot contain a fragment; write %23 for a #"),
        ("https:///b", "\"\" is not a valid host and port; write https://host:port"),
        (
            "http://a.example/b",
            "the call would go to http://a.example:80 in clear text; "
                + "write https://, or add allow_clear_text: true to allow it"
        ),
    ])
    func `a URL that is none, or goes out in clear text, is rejected`(_ url: String, _ error: String) {
        #expect(read("url: \"\(url)\"").errors == ["3:24: " + error])
    }

    @Test(arguments: [
        ("body: {}", ["is missing; write exactly one of them"]),
        ("body: { txt: a }", ["unknown key \"txt\"; did you mean \"text\"?", "is missing; write exactly one of them"]),
        ("body: { text: a, json: b }", ["\"text\" and \"json\" cannot be set together; write exactly one of them"]),
        ("body: { data: {} }", ["\"base64\" or \"file\" is missing; write exactly one of them"]),
        ("body: { form: { a: } }", ["\"a\" cannot be empty; write a string, \"\" for an empty one"]),
        ("body: { urlencoded: { values: { a: } } }", ["\"a\" cannot be empty; write \"\" for an empty value"]),
        (
            "body: { urlencoded: { values: { a: [{ b: c }] } } }",
            ["\"a\" cannot be a mapping; write a single value or a list of them"]
        ),
        (
            "body: { urlencoded: { values: [a], bools: words } }",
            ["\"values\" cannot be a list; write a mapping of names to values", "expected one of: numbers, literals"]
        ),
        (
            "body: { multipart: [] }",
            ["\"multipart\" is an empty list; write a part such as { name: a, value: b }, or remove it"]
        ),
        ("body: { multipart: [{ name: a }] }", ["\"value\" or \"file\" is missing; write exactly one of them"]),
        (
            "body: { multipart: [{ value: b, filename: c }] }",
            [
                "\"name\" is missing; add a string, for example name: photo",
                "\"filename\" has no effect without \"file\"; add \"file\", or remove it",
            ]
        ),
        ("content_type: a/b", ["\"content_type\" has no effect without \"body\"; add \"body\", or remove it"]),
        (
            "content_type: a/b, body: { multipart: [{ name: a, value: b }] }",
            ["\"content_type\" must be a multipart type; write a type such as multipart/mixed, without a boundary"]
        ),
        ("method: post", ["\"method\" cannot be \"post\"; write a method in capitals, such as GET or POST"]),
        ("method: CONNECT", ["\"method\" cannot be \"CONNECT\"; write a method in capitals, such as GET or POST"]),
    ])
    func `what is no request is rejected`(_ options: String, _ endings: [String]) {
        let errors = read("url: https://a, \(options)").errors
        #expect(errors.count == endings.count, "\(errors)")
        for ending in endings { #expect(errors.contains { $0.hasSuffix(ending) }, "\(errors)") }
    }

    @Test func `one run finds all that is wrong, each at its place`() {
        let reading = Reading(
            """
            \(Self.basis)calls:
              "a b":
                url: login
                method: get
              c:
                url: http://127.0.0.1/
                limit: 0
                timeout: 0s
                tls: { insecure: true }
              d: { body: { text: a } }
            """
        )
        #expect(
            reading.errors.map { $0.prefix { $0 != " " } }
                == ["4:3:", "5:10:", "6:13:", "9:12:", "10:14:", "11:10:", "12:6:"]
        )
    }
}

extension CallBodySettings {
    fileprivate var parameters: [String] {
        if case .form(let entries) = self { entries.map { "\($0.name)=\($0.text)" } } else { [] }
    }

    fileprivate var parts: [CallPartSettings] {
        if case .multipart(let parts) = self { parts } else { [] }
    }

    fileprivate func isJSON(_ text: String) -> Bool {
        if case .json(let node) = self { String(decoding: node.json, as: UTF8.self) == text } else { false }
    }
}

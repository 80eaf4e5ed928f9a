import Configuration
import Documents
import Events
import Glibc
import Interceptors
import Testing

@testable import Proxy

/// Named calls as they are sent.
struct NamedCallTests {
    private static let basis = "listen: 127.0.0.1:1\nupstream: http://127.0.0.1:2\n"

    private func named(_ options: String) throws -> NamedCall {
        let diagnostics = Diagnostics()
        let yaml = "\(Self.basis)calls: { login: { \(options) } }\n"
        let settings = Settings(YAML.parse(Array(yaml.utf8), into: diagnostics), into: diagnostics)
        let call = NamedCall(try #require(settings.call(named: "login")), into: diagnostics)
        #expect(diagnostics.lines(file: "f") == [])
        return call
    }

    private func request(_ options: String, headers: (String, String)...) throws -> FetchRequest {
        let some = SomeCall(headers)
        return try named(options).render(for: some.call)
    }

    private func target(_ options: String, headers: (String, String)...) throws -> String {
        let some = SomeCall(headers)
        return String(decoding: try named(options).render(for: some.call).target, as: UTF8.self)
    }

    /// The content type and the body.
    private func sent(_ body: String, _ more: String = "", headers: (String, String)...) throws -> [String] {
        let some = SomeCall(headers)
        let request = try named("url: https://a, body: { \(body) }\(more)").render(for: some.call).loaded()
        #expect(request.method == "POST" && request.fields.map(\.name) == ["content-type"])
        return [
            String(decoding: request.fields[0].value, as: UTF8.self),
            String(decoding: try request.bytes, as: UTF8.self),
        ]
    }

    private func problems(_ options: String) -> [String] {
        let diagnostics = Diagnostics()
        let yaml = "\(Self.basis)calls: { login: { \(options) } }\n"
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        return diagnostics.sorted.map(\.message)
    }

    // MARK: Heads

    @Test func `nothing but a URL is a GET without a body`() throws {
        let call = try named("url: https://id.example")
        #expect(!call.requiresCall)
        #expect(try call.render(for: nil) == FetchRequest(method: "GET", target: Array("/".utf8)))
    }

    @Test func `headers have small names, and come in the order of the file`() throws {
        let request = try request(
            #"url: https://a, headers: { X-B: "{header:x-in}/{peer.uid}", x-a: "{host} {{}}" }, method: DELETE"#,
            headers: ("x-in", "v")
        )
        #expect(request.method == "DELETE")
        #expect(
            request.fields == [
                FetchRequest.Field("x-b", Array("v/7".utf8)), FetchRequest.Field("x-a", Array("app:80 {}".utf8)),
            ]
        )
    }

    @Test func `parameters come behind those of the URL, escaped`() throws {
        #expect(try target("url: https://a/p, query: { b: x y, a: ä/& }") == "/p?b=x%20y&a=%C3%A4%2F%26")
        #expect(try target(#"url: "https://a/p?z=%7e&y=?", query: { "k[]": 1 }"#) == "/p?z=%7e&y=?&k%5B%5D=1")
        #expect(try target(#"url: "https://a?", query: { b: 1 }"#) == "/?b=1")
        #expect(try target(#"url: "https://a/?b&", query: { b: "" }"#) == "/?b&b=")
        #expect(try target(#"url: "https://a/p?""#) == "/p?")
    }

    @Test func `what a call brings into the URL adds nothing to it but itself`() throws {
        let url = #"url: "https://a/u/{header:x-a}/m{path}?p={path}&q={header:x-a}", query: { r: "{header:x-a}" }"#
        let value = "1%2e/.a/?x&y=z#"
        let escaped = "1%252e%2F.a%2F%3Fx%26y%3Dz%23"
        #expect(
            try target(url, headers: ("x-a", value))
                == "/u/\(escaped)/m/pkg.Service/Look?p=%2Fpkg.Service%2FLook&q=\(escaped)&r=\(escaped)"
        )
        // Servers may decode the slashes.
        for value in [".", "..", "1/../2", "../1", #"1\.."#] {
            #expect(throws: NamedCallError.target) { try target(url, headers: ("x-a", value)) }
        }
    }

    // MARK: Bodies

    @Test func `text is a template, line breaks and all`() throws {
        #expect(
            try sent(#"text: "a\r\n{header:x-a}{{\u00e4""#, headers: ("x-a", "1"))
                == ["text/plain; charset=utf-8", "a\r\n1{ä"]
        )
        #expect(try sent("text: a", ", content_type: text/markdown") == ["text/markdown", "a"])
    }

    @Test func `data are bytes`() throws {
        let request = try request("url: https://a, body: { data: { base64: AP+A } }")
        #expect(try request.bytes == [0, 0xff, 0x80])
        #expect(request.fields == [FetchRequest.Field("content-type", Array("application/octet-stream".utf8))])
    }

    @Test func `JSON keeps its order and its types, and its strings are templates`() throws {
        let json = #"{ z: "{header:x-a}", "{host}": [1, 1.50, -0, "1", yes, true, null, {}], a: { b: "{{\n" }, c: }"#
        #expect(
            try sent("json: \(json)", headers: ("x-a", #"q"\"#)) == [
                "application/json",
                #"{"z":"q\"\\","{host}":[1,1.50,-0,"1","yes",true,null,{}],"a":{"b":"{\n"},"c":null}"#,
            ]
        )
    }

    @Test func `a form is escaped`() throws {
        #expect(
            try sent(#"form: { user: "{header:x-a}", p+w: "a b&c=~\n" }"#, headers: ("x-a", "é"))
                == ["application/x-www-form-urlencoded", "user=%C3%A9&p%2Bw=a%20b%26c%3D~%0A"]
        )
    }

    @Test(arguments: [
        ("", "k%5B%5D=a&k%5B%5D=b&t=1&f=0"), ("arrays: plain, bools: literals", "k=a&k=b&t=true&f=false"),
    ])
    func `lists and truth are written in either style`(_ style: String, _ body: String) throws {
        #expect(
            try sent("urlencoded: { values: { k: [a, b], t: true, f: false }, \(style) }")
                == ["application/x-www-form-urlencoded", body]
        )
    }

    @Test func `parts stand between boundaries, with the files' bytes as they are`() throws {
        let file = TemporaryFile([0x00, 0x0d, 0x0a, 0xff])
        let parts = #"""
            [{ name: 'a"', value: "{header:x-a}" }, { name: j, value: "{{}}", type: application/json },
             { name: f, file: \#(file.path), filename: "ü.bin" }, { name: g, file: \#(file.path), type: image/png }]
            """#
        let request = try request("url: https://a, body: { multipart: \(parts) }", headers: ("x-a", "1")).loaded()
        let type = String(decoding: request.fields[0].value, as: UTF8.self)
        let start = "multipart/form-data; boundary="
        #expect(type.hasPrefix(start))
        let boundary = String(type.dropFirst(start.count))
        #expect(boundary.wholeMatch(of: /martlet-[0-9a-f]{32}/) != nil)
        let name = file.path.dropFirst("/tmp/".count)
        var body = Array(
            ("--\(boundary)\r\nContent-Disposition: form-data; name=\"a%22\"\r\n\r\n1\r\n"
                + "--\(boundary)\r\nContent-Disposition: form-data; name=\"j\"\r\nContent-Type: application/json\r\n\r\n{}\r\n"
                + "--\(boundary)\r\nContent-Disposition: form-data; name=\"f\"; filename=\"ü.bin\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n").utf8
        )
        body += [0x00, 0x0d, 0x0a, 0xff]
        body += Array(
            ("\r\n--\(boundary)\r\nContent-Disposition: form-data; name=\"g\"; filename=\"\(name)\"\r\n"
                + "Content-Type: image/png\r\n\r\n").utf8
        )
        body += [0x00, 0x0d, 0x0a, 0xff]
        body += Array("\r\n--\(boundary)--\r\n".utf8)
        #expect(try request.bytes == body)
    }

    @Test func `each request has a boundary of its own, which a caller cannot guess`() throws {
        let call = try named("url: https://a, body: { multipart: [{ name: a, value: b }] }")
        let types = try (0..<2).map { _ in try call.render(for: nil).loaded().fields[0].value }
        #expect(types[0] != types[1])
    }

    @Test func `the same parts make the same request, so that it is made once for all`() throws {
        let call = try named("url: https://a, body: { multipart: [{ name: a, value: b }] }")
        #expect(try call.render(for: nil) == call.render(for: nil))
    }

    @Test func `the type of parts can be another, and keeps its boundary`() throws {
        let type = try sent("multipart: [{ name: a, value: b }]", ", content_type: multipart/mixed")[0]
        #expect(type.hasPrefix("multipart/mixed; boundary=martlet-"))
    }

    // MARK: Files

    @Test func `a file is read for each call`() throws {
        let file = TemporaryFile(Array("one".utf8))
        let call = try named("url: https://a, body: { file: \(file.path) }")
        #expect(try call.render(for: nil).bytes == Array("one".utf8))
        file.write(Array("two".utf8))
        let request = try call.render(for: nil)
        #expect(try request.bytes == Array("two".utf8))
        #expect(request.fields == [FetchRequest.Field("content-type", Array("application/octet-stream".utf8))])
        file.remove()
        #expect(throws: NamedCallError.file(file.path, SystemError(ENOENT))) { try call.render(for: nil).loaded() }
    }

    @Test(arguments: ["file: PATH", "data: { file: PATH }", "multipart: [{ name: a, file: PATH }]"])
    func `a file of more than 16 MiB is not sent`(_ body: String) throws {
        let file = TemporaryFile([])
        let call = try named("url: https://a, body: { \(body.replacing("PATH", with: file.path)) }")
        file.extend(to: 16 << 20)
        #expect(try call.render(for: nil).bytes.count >= 16 << 20)
        file.extend(to: 16 << 20 + 1)
        #expect(throws: NamedCallError.file(file.path, SystemError(EFBIG))) { try call.render(for: nil).loaded() }
    }

    // MARK: Loading

    @Test func `only what comes from a call requires one`() throws {
        unsafe setenv("NAMED_CALL_USER", "me", 1)
        let call = try named(
            #"url: "https://a/{env:NAMED_CALL_USER}/x", body: { json: { u: "<{env:NAMED_CALL_USER}>" } }"#
        )
        #expect(!call.requiresCall)
        let request = try call.render(for: nil)
        #expect(request.target == Array("/me/x".utf8) && request.body == .bytes(Array(#"{"u":"<me>"}"#.utf8)))
        for part in [
            #"headers: { x-a: "{host}" }"#, #"query: { a: "{path}" }"#, #"body: { text: "{method}" }"#,
            #"body: { json: [{ a: "{peer.uid}" }] }"#, #"body: { form: { a: "{call.id}" } }"#,
            #"body: { urlencoded: { values: { a: ["{header:x}"] } } }"#,
            #"body: { multipart: [{ name: a, value: "{service}" }] }"#,
        ] {
            #expect(try named("url: https://a, \(part)").requiresCall)
        }
        #expect(try named(#"url: "https://a/{header:x}""#).requiresCall)
        #expect(try named(#"url: "https://a/?{header:x}""#).requiresCall)
    }

    @Test(arguments: [
        ("url: https://a, headers: { Host: b }", "the header Host belongs to the protocol; a rule cannot change it"),
        (
            "url: https://a, headers: { content-type: b }",
            "the header content-type belongs to the protocol; a rule cannot change it"
        ),
        ("url: https://a, headers: { a b: c }", "\"a b\" is not a valid header name; write for example x-tenant"),
        (
            #"url: https://a, headers: { a: "b\r\nc: d" }"#,
            "a header value cannot contain control characters; remove them"
        ),
        (
            #"url: https://a, body: { text: a }, content_type: "a\nb""#,
            "a header value cannot contain control characters; remove them"
        ),
        (
            "url: https://a/b c",
            "a URL cannot contain spaces, quotes, control characters or dot segments; write %20 for a space"
        ),
        (
            "url: https://a/b?ä",
            "a URL cannot contain spaces, quotes, control characters or dot segments; write %20 for a space"
        ),
        (
            "url: https://a/../b",
            "a URL cannot contain spaces, quotes, control characters or dot segments; write %20 for a space"
        ),
        ("url: https://a, body: { data: { base64: '?' } }", "\"base64\" is not valid base64; write for example AQID"),
        (
            "url: https://a, body: { file: /nowhere/at/all }",
            "cannot read /nowhere/at/all: No such file or directory; use a file of at most 16MiB"
        ),
        (
            "url: https://a, body: { multipart: [{ name: a, file: /tmp }] }",
            "cannot read /tmp: Is a directory; use a file of at most 16MiB"
        ),
        (
            #"url: https://a, body: { json: [{ a: "{hosts}" }] }"#,
            "{hosts} is unknown; did you mean \"host\"?"
        ),
    ])
    func `what cannot be sent is rejected when the file is loaded`(_ options: String, _ problem: String) {
        #expect(problems(options) == [problem])
    }

    // MARK: Parameters

    private func sent(_ options: String, with query: String) throws -> FetchRequest {
        let call = try named(options)
        let some = SomeCall([], target: "/look?\(query)")
        return try call.render(for: some.call, call.parameters.arguments(Span(), of: some.call))
    }

    @Test func `an entry without its value is left out`() throws {
        let options = #"""
            url: "https://a/{id}?q={q}", parameters: { id: { required: true }, q: { default: 1 }, a: {}, b: {} },
            query: { a: "{a}", b: "<{b}>", c: c }, headers: { x-a: "{a}", x-q: "{q}" }, method: PUT,
            body: { json: { a: "{a}", b: ["{b}", "{q}", "x{q}"], c: { a: "{a}" } } }
            """#
        let bare = try sent(options, with: "id=7")
        #expect(String(decoding: bare.target, as: UTF8.self) == "/7?q=1&c=c")
        #expect(bare.fields.map(\.name) == ["x-q", "content-type"])
        #expect(try String(decoding: bare.bytes, as: UTF8.self) == #"{"b":[1,"x1"],"c":{}}"#)
        let full = try sent(options, with: "id=a%2Fb&q=%26&a=1&b=é")
        #expect(String(decoding: full.target, as: UTF8.self) == "/a%2Fb?q=%26&a=1&b=%3C%C3%A9%3E&c=c")
        #expect(full.fields.map(\.name) == ["x-a", "x-q", "content-type"])
        #expect(
            try String(decoding: full.bytes, as: UTF8.self)
                == #"{"a":"1","b":["é","&","x&"],"c":{"a":"1"}}"#
        )
    }

    @Test(arguments: [
        "form: { a: '{a}', b: '{b}' }", "urlencoded: { values: { a: '{a}', b: ['{b}'] }, arrays: plain }",
    ])
    func `a form has what is there`(_ body: String) throws {
        let options = "url: https://a, parameters: { a: {}, b: {} }, body: { \(body) }"
        #expect(try sent(options, with: "b=x+y").bytes == Array("b=x%20y".utf8))
        #expect(try sent(options, with: "").bytes == [])
    }

    @Test func `a value is escaped, or rejected, where it would mean more than itself`() throws {
        let path = #"url: "https://a/u/{id}/x", parameters: { id: { required: true } }"#
        #expect(throws: NamedCallError.target) { try sent(path, with: "id=..") }
        #expect(throws: NamedCallError.argument("id", "cannot be empty: it is a part of a path")) {
            try sent(path, with: "id=")
        }
        let header = #"url: https://a, parameters: { id: {} }, headers: { x-id: "{id}" }"#
        #expect(throws: NamedCallError.argument("id", "cannot stand in a header: it has control characters")) {
            try sent(header, with: "id=a%0d%0ax-b:c")
        }
    }

    @Test(arguments: [
        (
            #"parameters: { a: {} }"#,
            #"nothing uses the parameter "a"; write {a} in "url", "query", "headers" or "body", or remove it"#
        ),
        (#"parameters: { user: {} }, query: { a: "{usr}", b: "{user}" }"#, #"{usr} is unknown; did you mean "user"?"#),
        (
            #"parameters: { path: {} }, query: { a: "{path}" }"#,
            "{path} is a part of the caller's call; give the parameter another name"
        ),
        (
            #"parameters: { aB: {}, a_b: {} }, query: { a: "{aB}{a_b}" }"#,
            #""a_b" and "aB" are one name to requests; remove one of them"#
        ),
        (
            #"parameters: { 1a: {} }, query: { a: "{1a}" }"#,
            #""1a" is not a valid name of a parameter; use at most 64 letters, digits, "-" and "_", and begin with a letter"#
        ),
        (
            #"parameters: { a: { one_of: [one, two], default: tow } }, query: { a: "{a}" }"#,
            #""default" is none of the values in "one_of"; did you mean "two"?"#
        ),
        (
            #"parameters: { a: { required: true, default: b } }, query: { a: "{a}" }"#,
            #""required" and "default" cannot be set together; write only one of them"#
        ),
        (
            #"parameters: { a: { default: [] } }, query: { a: "{a}" }"#,
            #""default" cannot be an empty list; write a single value, such as """#
        ),
        (
            #"parameters: { a: {} }, body: { text: "{a}" }"#,
            #"the parameter "a" may be absent from a text; add "required" or "default""#
        ),
    ])
    func `parameters that do not fit are rejected when the file is loaded`(_ options: String, _ problem: String) {
        #expect(problems("url: https://a, \(options)") == [problem])
    }

    @Test func `a URL says where an optional parameter goes instead`() {
        #expect(
            problems(#"url: "https://a/?y={y}", parameters: { y: {} }"#) == [
                #"the parameter "y" may be absent from a text; write query: { y: "{y}" }, or add "default""#
            ]
        )
    }

    @Test func `what makes a call without a request has to do without parameters`() {
        let diagnostics = Diagnostics()
        let yaml = """
            \(Self.basis)calls: { login: { url: "https://a/{user}", parameters: { user: { required: true } } } }
            interceptors: [ token: { call: { name: login } } ]
            """
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        #expect(
            diagnostics.sorted.map(\.message) == [
                #"nothing gives the call "login" its parameter "user"; add "default" to the parameter"#
            ]
        )
    }

    @Test func `one run finds the mistakes of settings and of templates`() {
        #expect(problems(#"url: login, headers: { te: a }"#).count == 2)
        #expect(problems(#"url: http://a, method: get, headers: { te: a }, body: { text: "{" }"#).count == 4)
    }
}

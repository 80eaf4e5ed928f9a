import Configuration
import Documents
import Events
import Glibc
import Protocols
import RPC
import Testing

@testable import Proxy

/// `when` of an interceptor, which is the same as `match` of a route.
@Suite struct ConditionTests {
    /// Whether a condition holds for a request, on a TCP listener or on a Unix one.
    private func holds(_ condition: String, _ request: String, unix: Bool = false) -> Bool {
        let address = unix ? "unix:/run/a.sock" : "127.0.0.1:8080"
        let yaml = """
            listen: \(address)
            interceptors:
              - {when: {\(condition)}, respond: {body: "yes"}}
              - respond: {body: "no"}
            """
        var response: [UInt8] = []
        runProxy(yaml) { harness in
            let caller = harness.caller(on: address)
            caller.send(request)
            _ = caller.head()
            response = caller.receive(2)
        }
        return response == Array("yes".utf8.prefix(2))
    }

    private func request(_ path: String, host: String = "app.example:80", _ fields: String...) -> String {
        let type = ["content-type: application/json", "content-length: 0"]
        return (["POST \(path) HTTP/1.1", "host: \(host)"] + type + fields + ["", ""]).joined(separator: "\r\n")
    }

    @Test func `a service is exact, and one of a list is enough`() {
        #expect(holds("service: a.B", request("/a.B/M")))
        #expect(holds("service: [x.Y, a.B]", request("/a.B/N?q")))
        #expect(!holds("service: a.B", request("/a.Bc/M")))
        #expect(!holds("service: a.B", request("/a.b/M")))
        #expect(!holds("service: a.B", request("/index.html")))
    }

    @Test func `a method is that of the call, not of HTTP`() {
        #expect(holds("method: M", request("/a.B/M")))
        #expect(holds("method: [N, M]", request("/c.D/M")))
        #expect(!holds("method: GET", request("/a.B/M")))
        #expect(!holds("method: M", request("/a.B/Mm")))
    }

    @Test func `plain HTTP has no service and no method, whatever its path`() {
        let page = http("POST /a.B/M HTTP/1.1", "host: app", "content-type: text/plain", "content-length: 0")
        for request in [page, http("GET /a.B/M HTTP/1.1", "host: app")] {
            #expect(!holds("service: a.B", request))
            #expect(!holds("method: M", request))
            #expect(holds("path: /a.B/M", request))
        }
    }

    @Test func `a path is exact, or a prefix that ends in a slash`() {
        #expect(holds("path: /a/b", request("/a/b?q=1")))
        #expect(!holds("path: /a/b", request("/a/bc")))
        #expect(!holds("path: /a/b", request("/a/b/c")))
        #expect(holds("path: /a/", request("/a/b/c")))
        #expect(!holds("path: /a/", request("/a")))
        #expect(holds("path: [/x, /a/]", request("/a/")))
    }

    @Test func `a pattern is looked for in values of any length that a head can have`() {
        let condition = "header: {x-a: {regex: 'role=admin'}}"
        #expect(holds(condition, request("/", "x-a: role=admin" + String(repeating: "a", count: 60_000))))
        #expect(holds(condition, request("/", "x-a: " + String(repeating: "a", count: 60_000) + "role=admin")))
    }

    @Test func `a host is exact or has a suffix, whatever its case and port`() {
        #expect(holds("host: app.example", request("/", host: "APP.example:8080")))
        #expect(holds("host: App.Example", request("/", host: "app.example")))
        #expect(!holds("host: app.example", request("/", host: "xapp.example")))
        #expect(holds("host: '*.example'", request("/", host: "a.b.example:1")))
        #expect(!holds("host: '*.example'", request("/", host: "example")))
        #expect(holds("host: '[::1]'", request("/", host: "[::1]:80")))
        #expect(holds("host: [a, b]", request("/", host: "b")))
        #expect(holds("host: app.example", request("/", host: "app.example.")))
        #expect(holds("host: '*.example'", request("/", host: "a.example.:8080")))
        #expect(!holds("host: app.example", request("/", host: "app.example..")))
    }

    @Test func `a header is present, absent, exact, one of a list, or matches`() {
        #expect(holds("header: {x-a: present}", request("/", "X-A: ")))
        #expect(!holds("header: {x-a: present}", request("/")))
        #expect(holds("header: {x-a: absent}", request("/", "x-b: 1")))
        #expect(!holds("header: {x-a: absent}", request("/", "x-a: 1")))
        #expect(holds("header: {x-a: \"1\"}", request("/", "x-a: 0", "x-a: 1")))
        #expect(!holds("header: {x-a: \"1\"}", request("/", "x-a: 11")))
        #expect(holds("header: {x-a: [one, two]}", request("/", "x-a: two")))
        #expect(holds("header: {x-a: {exact: present}}", request("/", "x-a: present")))
        #expect(!holds("header: {x-a: {exact: present}}", request("/", "x-a: 1")))
        #expect(holds("header: {x-a: {regex: \"^a+$\"}}", request("/", "x-a: b", "x-a: aaa")))
        #expect(!holds("header: {x-a: {regex: \"^a+$\"}}", request("/", "x-a: aab")))
    }

    @Test func `all that is given must hold`() {
        let both = "service: a.B, header: {x-a: present, x-b: absent}"
        #expect(holds(both, request("/a.B/M", "x-a: 1")))
        #expect(!holds(both, request("/a.B/M", "x-a: 1", "x-b: 1")))
        #expect(!holds(both, request("/c.D/M", "x-a: 1")))
    }

    @Test func `a peer has a user and a group on a Unix socket only`() {
        let (user, group) = (getuid(), getgid())
        #expect(holds("peer: {uid: \(user)}", request("/"), unix: true))
        #expect(holds("peer: {uid: [\(user + 1), \(user)], gid: \(group)}", request("/"), unix: true))
        #expect(!holds("peer: {uid: \(user + 1)}", request("/"), unix: true))
        #expect(!holds("peer: {uid: \(user), gid: \(group + 1)}", request("/"), unix: true))
        #expect(!holds("peer: {uid: \(user)}", request("/")))
    }

    /// A request in each protocol.
    private static let protocols: [(RPCProtocol, String)] = [
        (.connectUnary, post("application/json")),
        (.connectGet, http("GET /a.B/M?connect=v1&encoding=json&message=%7B%7D HTTP/1.1", "host: a")),
        (.connectStream, post("application/connect+json")),
        (.grpc, post("application/grpc")),
        (.grpcWeb, post("application/grpc-web+proto")),
        (.grpcWebText, post("application/grpc-web-text")),
        (.http, http("GET /index.html HTTP/1.1", "host: a")),
    ]

    private static func post(_ type: String) -> String {
        http("POST /a.B/M HTTP/1.1", "host: a", "content-type: \(type)", "content-length: 0")
    }

    @Test(arguments: ConditionSettings.protocolNames + ["connect"])
    func `a protocol is what the caller speaks, and a word can mean several`(_ word: String) {
        let held = Self.protocols.filter { holds("protocol: \(word)", $0.1) }.map { "\($0.0.name)" }
        switch word {
        case "connect": #expect(held == ["connect_unary", "connect_get", "connect_stream"])
        case "grpc_web": #expect(held == ["grpc_web", "grpc_web_text"])
        case "rest": #expect(held == [], "none of these has a REST path")
        default: #expect(held == [word])
        }
    }

    @Test func `one protocol of a list is enough, and other conditions hold besides`() {
        #expect(holds("protocol: [http, grpc]", Self.post("application/grpc")))
        #expect(holds("protocol: grpc, method: M", Self.post("application/grpc")))
        #expect(!holds("protocol: grpc, method: N", Self.post("application/grpc")))
    }

    @Test func `the words of conditions are the names that protocols and codes have elsewhere`() {
        #expect(ConditionSettings.protocolNames == RPCProtocol.allCases.map { "\($0.name)" } + ["rest"])
        #expect(ConditionSettings.codeNames == RPCCode.allCases.map { "\($0.name)" })
    }

    @Test(arguments: [("[ok, unauthenticated]", 1 | 1 << 16), ("unavailable", 1 << 14), ("", 0)])
    func `outcomes are bits by the numbers of their codes`(codes: String, bits: UInt32) throws {
        let diagnostics = Diagnostics()
        let when = codes.isEmpty ? "method: M" : "code: \(codes)"
        let yaml = "\(plain)\ninterceptors: [{when: {\(when)}, log: {}}]\n"
        let settings = Settings(YAML.parse(Array(yaml.utf8), into: diagnostics), into: diagnostics)
        let condition = Condition(try #require(settings.interceptors.first?.when), into: diagnostics)
        #expect(diagnostics.isEmpty)
        #expect(condition.codes == bits)
    }

    @Test func `an interceptor sees what those before it have made of the head`() {
        let yaml = """
            listen: 127.0.0.1:8080
            interceptors:
              - headers: {request: {set: {x-a: "1"}}}
              - {when: {header: {x-a: "1"}}, respond: {body: "yes"}}
              - reject: {code: aborted}
            """
        runProxy(yaml) { harness in
            let caller = harness.caller()
            caller.send(get)
            caller.expect(http("HTTP/1.1 200 OK", "content-length: 3", body: "yes"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `the user of a Unix socket's peer is known`(_ transport: Transport) {
        let yaml = """
            listen: unix:/run/a.sock
            interceptors:
              - {when: {peer: {uid: \(getuid()), gid: \(getgid())}}, respond: {body: "yes"}}
              - reject: {code: aborted}
            """
        runProxy(transport, yaml) { harness in
            let caller = harness.caller(on: "unix:/run/a.sock")
            caller.send(get)
            caller.expect(http("HTTP/1.1 200 OK", "content-length: 3", body: "yes"))
        }
    }
}

import Configuration
import Documents
import Events
import Glibc
import Interceptors
import Testing

@testable import Proxy

/// What is found wrong with a configuration when it is loaded, beyond what its parts can tell by themselves.
struct PlanTests {
    private func errors(_ yaml: String) -> [String] {
        let diagnostics = Diagnostics()
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        return diagnostics.lines(file: "f")
    }

    private func errors(chain: String, upstream: String = "http://127.0.0.1:9000") -> [String] {
        errors("listen: 127.0.0.1:8080\nupstream: \(upstream)\ninterceptors:\n  - \(chain)\n")
    }

    @Test(arguments: [
        #"headers: { request: { set: { x-a: "one\r\nx-b: two" } } }"#,
        #"headers: { request: { set: { x-a: "{env:PLAN_SPLIT}" } } }"#,
        #"headers: { response: { replace: { x-a: { pattern: ".", with: "\n" } } } }"#,
        #"respond: { headers: { x-a: "one\ntwo" } }"#,
        #"reject: { code: internal, metadata: { x-a: "one\ntwo" } }"#,
        #"token: { env: HOME, format: "Bearer\n{token}" }"#,
    ])
    func `a value that would split a header is rejected`(_ chain: String) {
        unsafe setenv("PLAN_SPLIT", "one\r\nx-b: two", 1)
        let found = errors(chain: chain)
        #expect(found.count == 1)
        #expect(found[0].hasSuffix("a header value cannot contain control characters; remove them"))
    }

    @Test(arguments: [
        "reject: { code: aborted }", "token: { env: HOME }", "headers: { request: { remove: [x-a] } }",
        "limit: { concurrency: 5 }", "metrics: {}", "validate: { rules: [{ when: { status: 500 }, fail: {} }] }",
        "headers: { response: { remove: [x-a] } }",
        "applies: [unary, stream], headers: { response: { remove: [x-a] } }",
        "headers: { response: { remove: [x-a] }, trailers: { remove: [x-b] } }",
        "headers: { request: { remove: [x-a] }, trailers: { remove: [x-b] } }", "message: { on: response, drop: true }",
    ])
    func `an outcome is no condition for what acts before it is known`(_ kind: String) {
        let found = errors(chain: "{ when: { code: unavailable }, \(kind) }")
        #expect(found.count == 1)
        #expect(found.first?.contains("\"code\" is known only at the end of a response, but ") == true)
        let unary = ["applies: unary, headers: { response: { remove: [x-a] } }"]
        for kind in unary + ["log: {}", "headers: { trailers: { remove: [x-b] } }", "error: { code: aborted }"] {
            #expect(errors(chain: "{ when: { code: unavailable }, \(kind) }") == [], "\(kind)")
        }
    }

    @Test func `a token for every call does not go to another host in clear text`() {
        let found = errors(chain: "token: { env: HOME }", upstream: "http://id.example")
        #expect(
            found == [
                "f:4:5: the token would go to http://id.example:80 in clear text; "
                    + "add allow_clear_text: true to allow it"
            ]
        )
        #expect(errors(chain: "token: { env: HOME, allow_clear_text: true }", upstream: "http://id.example") == [])
        #expect(errors(chain: "token: { env: HOME }", upstream: "http://localhost") == [])
    }

    @Test func `a kind that does not exist is reported from one that is meant`() {
        #expect(errors(chain: "heders: {}") == [#"f:4:5: unknown interceptor kind "heders"; did you mean "headers"?"#])
    }

    @Test func `a chain that only others include is checked, once`() {
        let chain =
            "include: [a, a]\nchains:\n  a: [{ heders: {} }, { when: { header: { x-a: { regex: '(' } } }, log: {} }]"
        let found = errors(chain: chain)
        #expect(found.count == 2)
        #expect(found[0] == #"f:6:9: unknown interceptor kind "heders"; did you mean "headers"?"#)
        #expect(found[1].hasPrefix("f:6:"))
    }

    @Test func `a chain has at most as many links as a word has bits`() {
        let chain = String(repeating: "  - metrics: {}\n", count: 65)
        let found = errors("listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:9000\ninterceptors:\n\(chain)")
        #expect(found == ["f:68:5: a chain can have at most 64 interceptors; split it"])
    }

    @Test(arguments: ["content-type", "Content-Length", "te", "grpc-timeout", "connect-protocol-version", "host"])
    func `headers of the protocols are not for rules`(_ name: String) {
        let found = errors(chain: "headers: { request: { remove: [\(name)] } }")
        #expect(found == ["f:4:36: the header \(name) belongs to the protocol; a rule cannot change it"])
    }

    @Test func `each interceptor is planned once, and made once for each worker`() {
        let made = Made()
        let kind = InterceptorKind(name: "counted", summary: "Counts.", options: []) { _, _ in
            made.plans += 1
            return CountedPlan(made: made)
        }
        let yaml = """
            listen: 127.0.0.1:8080
            upstream: http://127.0.0.1:9000
            interceptors: [{counted: {}}]
            chains: {other: [{counted: {}}, {name: b, counted: {}}]}
            routes: [{match: {path: /x}, chain: other}, {}]
            """
        let diagnostics = Diagnostics()
        let root = YAML.parse(Array(yaml.utf8), into: diagnostics)
        let plan = Plan(root, kinds: Registry.builtIn.adding([kind]), into: diagnostics)
        #expect(diagnostics.lines(file: "f") == [])
        #expect(made.plans == 3 && made.interceptors == 0)
        let workers = (0..<2).map { _ in Worker(loop: EventLoop(), lineWriters: nil, network: SystemNetwork()) }
        for worker in workers {
            worker.use(plan, number: 1, routes: RouteTable(plan.settings.routes), tokens: [:])
        }
        #expect(made.plans == 3 && made.interceptors == 6)
    }

    /// Counts plans and interceptors.
    private final class Made: @unchecked Sendable {
        var plans = 0
        var interceptors = 0
    }

    private struct CountedPlan: InterceptorPlan {
        let events: EventSet = .requestHead
        let made: Made

        func instance(on worker: WorkerServices) -> any Interceptor {
            made.interceptors += 1
            return Counted()
        }
    }

    private final class Counted: Interceptor {}
}

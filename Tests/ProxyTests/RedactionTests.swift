import Configuration
import Documents
import HTTP
import Interceptors
import Telemetry
import Testing

@testable import Proxy

/// What is kept out of all that people read.
@Suite struct RedactionTests {
    private func redactions(chain: String) -> Redactions {
        let diagnostics = Diagnostics()
        let root = YAML.parse(Array("interceptors:\n\(chain)".utf8), into: diagnostics)
        return Plan(root, kinds: .builtIn, into: diagnostics).chains[0].plan.redactions
    }

    private func shows(_ header: String, _ redactions: Redactions) -> Bool {
        !redactions.contains(Array(header.utf8).span)
    }

    private func masked(_ text: String, _ redactions: Redactions) -> String? {
        redactions.masked(Array(text.utf8).span).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        "authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key", "trailer-set-cookie",
    ])
    func `credentials are never shown`(_ header: String) {
        #expect(!shows(header, redactions(chain: "  - metrics: {}\n")))
    }

    @Test func `what any interceptor of the chain names is not shown`() {
        let all = redactions(
            chain: """
                  - redact: { headers: X-Session }
                  - token: { env: HOME, header: x-key }
                  - redact: { headers: [x-other], json: [/user/password, "/items/*/card"] }
                """
        )
        for header in ["x-session", "x-other", "x-key", "cookie"] { #expect(!shows(header, all), "\(header)") }
        #expect(shows("x-plain", all))
        #expect(
            masked(#"{"user":{"password":{"old":1},"name":"a"},"items":[{"card":1},{"card":"2"}]}"#, all)
                == #"{"user":{"password":"***","name":"a"},"items":[{"card":"***"},{"card":"***"}]}"#
        )
        #expect(all.hasPointers)
    }

    @Test(arguments: ["", "plain", "{\"user\":1} x", "{\"a\":1,\"a\":2}"])
    func `of a message that is no JSON nothing is shown`(_ text: String) {
        #expect(masked(text, Redactions(pointers: [JSONPointer("/user")!])) == nil)
    }

    @Test(arguments: [
        ("{}", #"the interceptor redacts nothing; add "headers" or "json""#),
        (#"{ headers: "x y" }"#, #""x y" is not a valid header name; write for example x-tenant"#),
        ("{ json: user }", #""user" is not a JSON Pointer; write for example /user/password"#),
    ])
    func `what cannot be redacted is rejected`(_ options: String, _ error: String) {
        #expect(problems("redact: \(options)") == [error])
    }

    @Test func `a body that is too long is not kept`() {
        let budget = CopyBudget()
        let kilobytes = [UInt8](repeating: 0x20, count: 1024)
        do {
            let body = RedactedBody(budget)
            for _ in 0..<32 { body.add(kilobytes.span) }
            #expect(budget.held == 32 * 1024)
            body.add(made: kilobytes.span)
            #expect(budget.held > 33 * 1024)
            let small = RedactedBody(budget)
            small.add(kilobytes.span)
            for _ in 0..<32 { body.add(kilobytes.span) }
            #expect(budget.held == 1024)
        }
        #expect(budget.held == 0)
    }

    @Test func `the log shows headers, but not those that are redacted`() {
        let log = TemporaryLog()
        let chain = "{log: {to: \(log.path), headers: [X-Tenant, Authorization, x-session, x-none]}}"
        runProxy(plain + "\ninterceptors: [\(chain), {redact: {headers: x-session}}]\n") { harness in
            let caller = harness.caller()
            caller.send(
                http(
                    "GET /p HTTP/1.1",
                    "host: a",
                    "x-tenant: \"one\"",
                    "authorization: Bearer s3cret",
                    "x-session: 42"
                )
            )
            let upstream = harness.upstream().accept()
            #expect(upstream.head().contains("\r\nauthorization: Bearer s3cret\r\nx-session: 42\r\n"))
            upstream.send(fine)
            caller.expect(fine)
        }
        #expect(log.lines.count == 1)
        #expect(
            log.lines[0].contains(
                #","headers":{"x-tenant":"\"one\"","authorization":"***","x-session":"***"},"code":"ok","#
            )
        )
    }
}

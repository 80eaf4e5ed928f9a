import Configuration
import Documents
import Interceptors
import Testing

@testable import Proxy

/// Warnings of places in messages that no message has.
struct PlaceCheckTests {
    private func warnings(_ chain: String, types: Bool = true, more: String = "") -> [String] {
        let diagnostics = Diagnostics()
        let yaml = """
            listen: 127.0.0.1:8080
            upstream: http://127.0.0.1:9000
            interceptors:
            - \(chain)
            \(types ? "types: {files: [\"\(TestTypes.path)\"]}" : "")
            \(more)
            """
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        #expect(diagnostics.lines(file: "f") == [])
        return diagnostics.warnings.map { $0.line(file: "f") }
    }

    private static let advice = "write the place of a field, or name the services of the interceptor in \"when\""

    @Test(arguments: [
        (
            "message: { on: request, require: { json: { /nam: present } } }",
            "4:46: no message has /nam; did you mean /name?"
        ),
        (
            "message: { on: response, set: { /inner/cuont: 1 } }",
            "4:35: no message has /inner/cuont; did you mean /inner/count?"
        ),
        (
            "message: { on: request, remove: [/list/*/nmae] }",
            "4:36: no message has /list/*/nmae; did you mean /list/*/name?"
        ),
        (
            "{ when: { service: pkg.Servce }, metrics: {} }",
            "4:11: no service is named \"pkg.Servce\"; did you mean pkg.Service?"
        ),
        (
            "{ when: { service: pkg.Service, method: Sya }, metrics: {} }",
            "4:11: pkg.Service has no method \"Sya\"; did you mean Say?"
        ),
        ("{ when: { method: Talkk }, metrics: {} }", "4:11: no service has a method \"Talkk\"; did you mean Talk?"),
        ("message: { on: request, remove: [/debug] }", "4:36: no message has /debug; \(advice)"),
        ("redact: { json: [/labels/a/nam] }", "4:20: no message has /labels/a/nam; did you mean /labels/a/name?"),
        ("redact: { json: [/password] }", "4:20: no message has /password; \(advice)"),
        (
            "validate: { rules: [{ when: { json: { /cuont: 1 } }, fail: {} }] }",
            "4:41: no message has /cuont; did you mean /count?"
        ),
        (
            "validate: { rules: [{ when: { code: ok }, fail: { message: \"{json:/nam}\" } }] }",
            "4:62: no message has /nam; did you mean /name?"
        ),
        (
            "{ when: { service: pkg.Service }, validate: { rules: [{ when: { json: { /error: 1 } }, fail: {} }] } }",
            "4:75: no message has /error; \(advice)"
        ),
    ])
    func `a place that no message has is worth a warning`(_ chain: String, _ warning: String) {
        #expect(warnings(chain) == ["f:\(warning)"])
        #expect(warnings(chain, types: false) == [])
    }

    @Test(arguments: [
        "message: { on: request, require: { json: { /name: present, /list/0/inner/count: 1, /labels/any key/isAdmin: true } } }",
        "message: { on: request, set: { /is_admin: true, /isAdmin: true }, remove: [/list/*/inner] }",
        "redact: { json: [/inner/name, /list/*, /code, /details/0/value, /is_admin] }",
        "message: { on: request, require: { json: { /is_admin: true } } }",
        "{ when: { service: far.off.Thing, method: Do }, metrics: {} }",
        // A body of plain HTTP, and the JSON of an error, may have it.
        "validate: { rules: [{ when: { json: { /error: 1, /code: { not: 0 } } }, fail: {} }] }",
        // No type of this service is known.
        "{ when: { service: other.Service }, message: { on: request, remove: [/debug] } }",
        "{ when: { protocol: http }, validate: { rules: [{ when: { json: { /cuonter: 1 } }, fail: {} }] } }",
    ])
    func `there is no warning of a place that a message may have`(_ chain: String) {
        #expect(warnings(chain) == [])
    }

    @Test func `an interceptor sees what its routes let through`() {
        let chain = "metrics: {}"
        let more = """
            chains:
              one: [message: { on: request, remove: [/debug] }]
              none: [message: { on: request, remove: [/nam] }]
            routes:
            - { match: { service: other.Service }, chain: one }
            - { match: { path: /other/ }, chain: one }
            """
        #expect(warnings(chain, more: more) == [])
        let found = ["f:7:42: no message has /debug; \(Self.advice)"]
        for match in [
            "{ service: pkg.Service, method: Talk }", "{ method: Say }", "{ path: /pkg.Service/ }",
            "{ path: /pkg.Service/Say }",
        ] {
            #expect(warnings(chain, more: more + "\n- { match: \(match), chain: one }") == found, "\(match)")
        }
        for match in ["{ method: Tell }", "{ path: /pkg.Service/Tell }"] {
            #expect(warnings(chain, more: more + "\n- { match: \(match), chain: one }") == [], "\(match)")
        }
    }
}

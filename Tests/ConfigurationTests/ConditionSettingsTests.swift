import Configuration
import Testing

/// What conditions ask beyond the request itself.
struct ConditionSettingsTests {
    /// What is read of a condition that begins in line 3 at column 27.
    private func reading(_ condition: String) -> Reading {
        Reading(
            "listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:9000\n"
                + "interceptors: [ { when: { \(condition) }, log: {} } ]\n"
        )
    }

    private func condition(_ text: String) throws -> ConditionSettings {
        let reading = reading(text)
        #expect(reading.errors == [])
        return try #require(reading.settings.interceptors.first?.when)
    }

    @Test func `a protocol is one, or all that its word means`() throws {
        let protocols = { (words: String) in try condition("protocol: \(words)").protocols }
        #expect(try protocols("grpc") == ["grpc"])
        #expect(try protocols("connect") == ["connect_unary", "connect_get", "connect_stream"])
        #expect(try protocols("[grpc_web, connect_get]") == ["grpc_web", "grpc_web_text", "connect_get"])
    }

    /// Requests are compared in one form; a rule in another would never hold.
    @Test func `a path that no request can have is rejected`() {
        #expect(reading("path: [/a%2fb/..c, /a%7, /%7C, /%%41, /]").errors == [])
        for path in ["/a/./b", "/x/../adm/", "/%61dmin/", "/a%7E", "/\u{e4}/", "/a b", "/a#b", "/a?b", "b"] {
            let errors = reading("path: '\(path)'").errors
            #expect(
                errors.count == 1 && errors[0].contains("without a query, unnecessary escapes or dot segments"),
                "\(path)"
            )
        }
    }

    @Test func `a peer has units, and a call an outcome`() throws {
        let condition = try condition("peer: { unit: [app.service, a@1.scope] }, code: [ok, unavailable]")
        #expect(condition.peerUnits == ["app.service", "a@1.scope"])
        #expect(condition.codes == ["ok", "unavailable"])
    }

    @Test(arguments: ["protocol: http", "peer: { unit: app.service }", "code: ok"])
    func `a condition that asks one thing is not empty`(text: String) throws {
        #expect(try !condition(text).isEmpty)
        #expect(try condition("").isEmpty)
    }

    @Test(arguments: [
        ("protocol: gprc", "3:37: \"protocol\" cannot be \"gprc\"; did you mean \"grpc\"?"),
        ("protocol: []", "3:37: \"protocol\" is an empty list; write what to match, or remove it"),
        ("code: [ok, unavailble]", "3:38: \"code\" cannot be \"unavailble\"; did you mean \"unavailable\"?"),
        ("code: []", "3:33: \"code\" is an empty list; write what to match, or remove it"),
        (
            "peer: { unit: app }",
            "3:41: \"unit\" cannot be \"app\"; write a service or a scope, such as app.service"
        ),
        (
            "peer: { unit: [a.service, system.slice] }",
            "3:53: \"unit\" cannot be \"system.slice\"; write a service or a scope, such as app.service"
        ),
        (
            "peer: { unit: .service }",
            "3:41: \"unit\" cannot be \".service\"; write a service or a scope, such as app.service"
        ),
        ("peer: { unit: [] }", "3:41: \"unit\" is an empty list; write what to match, or remove it"),
        ("peer: { uid: [] }", "3:40: \"uid\" is an empty list; write what to match, or remove it"),
    ])
    func `a mistake is named with its place and what would be right`(condition: String, error: String) {
        #expect(reading(condition).errors == [error])
    }

    @Test func `no route asks how a call will end`() {
        let errors = Reading(
            "listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:9000\nroutes: [ { match: { code: ok } } ]\n"
        ).errors
        #expect(
            errors == [
                "3:28: \"code\" has no effect in a route, which is chosen before the call ends; write it in the \"when\" of an interceptor"
            ]
        )
    }

    @Test(arguments: [
        ("code: ok", "code: aborted"), ("protocol: grpc", "protocol: http"),
        ("peer: { unit: a.service }", "peer: { unit: b.service }"),
    ])
    func `conditions differ when what they ask does`(old: String, new: String) throws {
        #expect(try condition(old) == condition(old))
        #expect(try condition(old) != condition(new))
    }
}

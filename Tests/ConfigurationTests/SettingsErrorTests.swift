import Configuration
import Testing

/// What is said about bad files, and where.
struct SettingsErrorTests {
    /// A good file, to which each test adds its mistake in line 3 and below.
    private static let good = "listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:9000\n"

    @Test(arguments: ["9999ms", "1s"])
    func `an upstream is not pinged more often than every ten seconds`(interval: String) {
        let file = "listen: 127.0.0.1:1\nupstreams:\n  a: { url: http://a, timeouts: { keepalive: \(interval) } }\n"
        #expect(
            Reading(file).errors == [
                "3:46: \"keepalive\" cannot be \(interval); write a duration of at least 10s, or none"
            ]
        )
    }

    @Test(arguments: [
        (
            "heder: 1",
            "3:1: unknown key \"heder\"; expected one of: listen, listeners, upstream, upstreams, calls, mocks, caches, interceptors, chains, routes, workers, admin, types, telemetry, sandbox, limits, … (3 more)"
        ),
        ("interceptor: []", "3:1: unknown key \"interceptor\"; did you mean \"interceptors\"?"),
        ("listeners: []", "1:1: \"listen\" is short for \"listeners\"; write only one of them"),
        ("upstreams: {}", "2:1: \"upstream\" is short for \"upstreams\"; write only one of them"),
        ("workers: 0", "3:10: \"workers\" cannot be \"0\"; write auto or a whole number from 1 to 64"),
        ("workers: many", "3:10: \"workers\" cannot be \"many\"; write auto or a whole number from 1 to 64"),
        ("log_level: warning", "3:12: \"log_level\" cannot be \"warning\"; did you mean \"warn\"?"),
        ("log_level: loud", "3:12: \"log_level\" cannot be \"loud\"; expected one of: error, warn, info, debug"),
        (
            "drain: { min: 5s, max: 1s }",
            "3:24: \"max\" cannot be shorter than \"min\"; write a duration that is at least as long"
        ),
        (
            "drain: 30",
            "3:8: a mapping is required here, not a single value; its keys are min, max, handover, generation"
        ),
        ("drain: { max: 30 }", "3:15: \"max\" cannot be \"30\"; write a duration such as 250ms, 2s, 5m, 1h or none"),
        ("admin: { adress: 127.0.0.1:1 }", "3:10: unknown key \"adress\"; did you mean \"address\"?"),
        ("admin: {}", "3:8: \"address\" is missing; add a string, for example address: 127.0.0.1:9901"),
        (
            "admin: 0.0.0.0:9901",
            "3:8: other machines can reach 0.0.0.0:9901; write 127.0.0.1:9901 or unix:/path, or add allow_remote: true and pages: [metrics, healthz, readyz]"
        ),
        (
            "admin: systemd:a",
            "3:8: \"systemd:a\" is not a valid admin address; write 127.0.0.1:9901, unix:/path or unix:@name"
        ),
        ("admin: 127.0.0.1:8080", "3:8: 127.0.0.1:8080 is already used on line 1; give each listener its own address"),
        (
            "admin: { address: 127.0.0.1:1, mode: \"0600\" }",
            "3:38: \"mode\" has no effect without a Unix socket; listen on unix:/path, or remove it"
        ),
        (
            "interceptors: { metrics: {} }",
            "3:15: a chain cannot be a mapping; write a list with items such as \"- metrics: {}\""
        ),
        ("interceptors: [ {} ]", "3:17: an interceptor needs a kind; add for example \"metrics: {}\""),
        (
            "interceptors: [ [] ]",
            "3:17: an interceptor cannot be an empty list; write a kind and its options, such as \"metrics: {}\""
        ),
        (
            "interceptors:\n  - token: {}\n    log: {}",
            "5:5: an interceptor can have only one kind, not \"token\" and \"log\"; start a new item with \"- \", or indent the options"
        ),
        ("interceptors:\n  - nme: a\n    log: {}", "4:5: unknown key \"nme\"; did you mean \"name\"?"),
        (
            "interceptors:\n  - { name: a, log: {} }\n  - { name: a, log: {} }",
            "5:13: the name \"a\" is already used in this chain on line 4; give each interceptor its own name"
        ),
        (
            "interceptors: [ { name: \"a b\", log: {} } ]",
            "3:25: \"a b\" is not a valid name; use at most 64 letters, digits, \"-\", \"_\" and \".\""
        ),
        (
            "interceptors: [ { when: { sevice: a }, log: {} } ]",
            "3:27: unknown key \"sevice\"; did you mean \"service\"?"
        ),
        (
            "interceptors: [ { when: { service: pkg.S/Say }, log: {} } ]",
            "3:36: \"service\" cannot be \"pkg.S/Say\"; write the full name without a slash, such as pkg.Service"
        ),
        (
            "interceptors: [ { when: { path: admin }, log: {} } ]",
            "3:33: \"path\" cannot be \"admin\"; write a path that starts with /, without a query, unnecessary escapes or dot segments"
        ),
        (
            "interceptors: [ { when: { host: \"a:80\" }, log: {} } ]",
            "3:33: \"host\" cannot be \"a:80\"; write a host name without a port, or *.suffix"
        ),
        (
            "interceptors: [ { when: { host: \"a:0\" }, log: {} } ]",
            "3:33: \"host\" cannot be \"a:0\"; write a host name without a port, or *.suffix"
        ),
        (
            "interceptors: [ { when: { method: [] }, log: {} } ]",
            "3:35: \"method\" is an empty list; write what to match, or remove it"
        ),
        (
            "interceptors: [ { when: { header: x-a }, log: {} } ]",
            "3:35: \"header\" cannot be \"x-a\"; write a mapping of names to values"
        ),
        (
            "interceptors: [ { when: { header: { \"x a\": v } }, log: {} } ]",
            "3:37: \"x a\" is not a valid header name; write for example x-env"
        ),
        (
            "interceptors: [ { when: { header: { x-a: { regexp: v } } }, log: {} } ]",
            "3:44: unknown key \"regexp\"; did you mean \"regex\"?"
        ),
        (
            "interceptors: [ { when: { peer: { uid: root } }, log: {} } ]",
            "3:40: \"uid\" cannot be \"root\"; write a whole number from 0 to 4294967294, or a list of them"
        ),
        ("chains: []", "3:9: \"chains\" cannot be an empty list; write a mapping of names to lists"),
        ("chains: { a: b }", "3:14: a chain cannot be \"b\"; write a list with items such as \"- metrics: {}\""),
        (
            "routes: {}",
            "3:9: \"routes\" cannot be an empty mapping; write a list with each item on its own line after \"- \""
        ),
        ("routes: [ { upstream: defalt } ]", "3:23: no upstream is named \"defalt\"; did you mean \"default\"?"),
        (
            "routes: [ { name: Users } ]",
            "3:19: \"Users\" is not a valid route name; use at most 64 lower-case letters, digits, \"-\", \"_\" and \".\""
        ),
        (
            "routes: [ { name: '' } ]",
            "3:19: \"\" is not a valid route name; use at most 64 lower-case letters, digits, \"-\", \"_\" and \".\""
        ),
        (
            "routes: [ { name: 12 } ]",
            "3:19: \"12\" is a number, which means a route without a name; add a letter"
        ),
        ("routes: [ { name: none } ]", "3:19: \"none\" means calls without a route; choose another name"),
        (
            "routes: [ { name: a }, { name: b }, { name: a } ]",
            "3:45: the name \"a\" is already used on line 3; give each route its own name"
        ),
        ("routes: [ { chain: x } ]", "3:20: no chain is named \"x\"; none is defined"),
    ])
    func `a mistake is named with its place and what would be right`(lines: String, error: String) {
        let errors = Reading(Self.good + lines + "\n").errors
        #expect(errors.contains(error), "\(errors)")
    }

    @Test(arguments: [
        (
            "http:/host",
            "\"http:/host\" is not a valid URL; write http://host:port, h2c://host:port, https://host or unix:/path"
        ),
        (
            "localhost:9000",
            "\"localhost:9000\" is not a valid URL; write http://host:port, h2c://host:port, https://host or unix:/path"
        ),
        ("ftp://a", "\"ftp://\" is not supported; write http://, https:// or h2c:// and a host, or unix:/path"),
        ("https://a:0", "\"a:0\" is not a valid host and port; write https://host:port"),
        ("unix+h2c:a", "\"unix+h2c:a\" is not a valid socket; write unix+h2c:/path, at most 107 bytes long"),
        ("http://a/b", "an upstream URL cannot contain a path or a query; write http://host:port"),
        ("http://user:hunter2@a", "an upstream URL cannot contain a user; write http://host:port"),
        ("http://user:hunter2@\u{301}a", "an upstream URL cannot contain a user; write http://host:port"),
        ("user:hunter2@a", "an upstream URL cannot contain a user; write http://host:port"),
        ("unix:a", "\"unix:a\" is not a valid socket; write unix:/path, at most 107 bytes long"),
    ])
    func `a bad upstream URL is rejected with its reason`(url: String, reason: String) {
        #expect(Reading("listen: 127.0.0.1:1\nupstream: \(url)\n").errors == ["2:11: \(reason)"])
    }

    @Test(arguments: ["0999", "66", "07777", "rw", "-066", "+066", "1000"])
    func `a mode is octal digits`(mode: String) {
        let yaml = "listeners: [ { address: unix:/a, mode: \"\(mode)\" } ]\nupstream: http://a\n"
        #expect(Reading(yaml).errors == ["1:40: \"mode\" cannot be \"\(mode)\"; write octal digits such as \"0660\""])
    }

    @Test func `an empty file listens on nothing and responds to nothing`() {
        let errors = [
            "1:1: there is nothing to listen on; add for example listen: 127.0.0.1:8080",
            "1:1: nothing can respond to these calls; add for example upstream: http://127.0.0.1:9000",
        ]
        #expect(Reading("").errors == errors)
        #expect(Reading("# nothing\n").errors == errors)
        #expect(Reading("---\n").errors == errors.map { $0.replacing("1:1:", with: "2:1:") })
    }

    @Test func `an address that other machines reach must be meant`() {
        let errors = Reading("listen: 0.0.0.0:80\nupstream: http://a\n").errors
        #expect(errors == ["1:9: other machines can reach 0.0.0.0:80; listen on 127.0.0.1, or add allow_remote: true"])
    }

    @Test func `localhost takes both loopback addresses`() {
        let advice = "give each listener its own address"
        let errors = [
            "127.0.0.1:80": "127.0.0.1:80 is already used on line 1; \(advice)",
            "'[::1]:80'": "[::1]:80 is already used on line 1; \(advice)",
            "localhost:80": "localhost:80 includes 127.0.0.1:80, which is already used on line 1; \(advice)",
        ]
        for (other, error) in errors {
            #expect(Reading("{ listen: [localhost:80, \(other)], upstream: 'http://a' }").errors == ["1:26: \(error)"])
        }
        let six = Reading("{ listen: ['[::1]:80', localhost:80], upstream: 'http://a' }").errors
        #expect(six == ["1:24: localhost:80 includes [::1]:80, which is already used on line 1; \(advice)"])
        #expect(Reading("{ listen: ['127.0.0.2:80', localhost:80], upstream: 'http://a' }").errors == [])
    }

    @Test func `an address is taken once, but for a port that the kernel chooses`() {
        let twice = "listen: [127.0.0.1:80, 127.0.0.1:80]\nupstream: http://a\n"
        #expect(
            Reading(twice).errors == [
                "1:24: 127.0.0.1:80 is already used on line 1; give each listener its own address"
            ]
        )
        #expect(Reading(twice.replacing(":80", with: ":0")).errors == [])
    }

    @Test(arguments: [
        "upstream:", "upstream: [http://a]", "upstreams: [http://a]", "upstreams: { a: }", "upstreams: { a: x }",
    ])
    func `a bad upstream brings one error`(line: String) {
        #expect(Reading("listen: 127.0.0.1:1\n\(line)\n").errors.count == 1)
    }

    @Test func `without upstreams nothing responds`() {
        let errors = Reading("listen: 127.0.0.1:1\nupstreams: {}\n").errors
        #expect(errors == ["1:1: nothing can respond to these calls; add for example upstream: http://127.0.0.1:9000"])
    }

    @Test(arguments: ["listen: []", "listeners: []"])
    func `no listeners listen on nothing`(line: String) {
        let errors = Reading("\(line)\nupstream: http://a\n").errors
        #expect(
            errors.map { $0.hasSuffix("there is nothing to listen on; write an address such as 127.0.0.1:8080") } == [
                true
            ]
        )
    }

    @Test func `several upstreams need routes that name them`() {
        let two = "listen: 127.0.0.1:1\nupstreams: { a: http://a, b: http://b }\n"
        #expect(
            Reading(two).errors == [
                "1:1: there are several upstreams, but no routes; add routes that select an upstream"
            ]
        )
        let unnamed = Reading(two + "routes:\n  - upstream: a\n  - match: { path: /b }\n").errors
        #expect(unnamed == ["5:5: there are several upstreams, but this route names none; add upstream: and a name"])
    }

    @Test func `one run reports all errors in the order of the file`() {
        let reading = Reading(
            """
            listen: nowhere
            upstreams:
              a: ftp://a
              b: { url: http://b, timeouts: { conect: 1s, idle: 0s } }
            interceptors:
              - token: {}
                log: {}
            routes:
              - { upstream: c, chain: d }
            wrkers: 2
            drain: { min: soon }
            """
        )
        #expect(
            reading.errors.map { $0.prefix { $0 != " " } } == [
                "1:9:", "3:6:", "4:35:", "4:53:", "7:5:", "9:17:", "9:27:", "10:1:", "11:15:",
            ]
        )
    }

    @Test func `a line of an error names the file`() {
        let diagnostics = Diagnostics()
        diagnostics.report("b; c", at: Mark(line: 14, column: 7))
        diagnostics.report("a; d", at: Mark(line: 2, column: 1))
        #expect(diagnostics.lines(file: "martlet.yaml") == ["martlet.yaml:2:1: a; d", "martlet.yaml:14:7: b; c"])
    }
}

import Configuration
import Testing

/// Chains that include others.
struct InclusionTests {
    /// A good file, to which each test adds chains in line 3 and below.
    private func reading(_ chains: String) -> Reading {
        Reading("listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:9000\n" + chains)
    }

    private func names(_ items: [ChainItem]) -> [String] {
        items.map { $0.name == $0.kind ? $0.name : "\($0.name):\($0.kind)" }
    }

    @Test func `the items of an included chain stand in its place`() {
        let reading = reading(
            """
            interceptors: [metrics, { include: common }, { headers: {} }]
            chains:
              common: [log, { name: auth, token: { env: X } }]
              other: [{ include: common }]
            """
        )
        #expect(reading.errors == [])
        let settings = reading.settings
        #expect(names(settings.interceptors) == ["metrics", "log", "auth:token", "headers"])
        #expect(settings.interceptors[2].options["env"]?.text == "X")
        #expect(settings.chains.map(\.name) == ["common", "other"])
        #expect(settings.chains.map { names($0.items) } == [["log", "auth:token"], ["log", "auth:token"]])
    }

    @Test func `inclusions nest, and a list includes one chain after the other`() {
        let reading = reading(
            """
            interceptors: [{ include: [outer, last] }]
            chains:
              outer: [metrics, { include: inner }, { headers: {} }]
              inner: [log]
              last: [{ token: {} }]
            routes: [{ chain: outer }]
            """
        )
        #expect(reading.errors == [])
        let settings = reading.settings
        #expect(names(settings.interceptors) == ["metrics", "log", "headers", "token"])
        #expect(names(settings.items(of: settings.routes[0])) == ["metrics", "log", "headers"])
    }

    @Test func `names of our own are numbered in the order of the whole chain, and make way for given ones`() {
        let reading = reading(
            """
            interceptors: [log, { include: common }, log, { name: log-3, metrics: {} }]
            chains:
              common: [log, { name: log-2, token: {} }, { include: more }]
              more: [log]
            """
        )
        #expect(reading.errors == [])
        #expect(
            names(reading.settings.interceptors) == [
                "log", "log-4:log", "log-2:token", "log-5:log", "log-6:log", "log-3:metrics",
            ]
        )
        #expect(names(reading.settings.chains[0].items) == ["log", "log-2:token", "log-3:log"])
        #expect(names(reading.settings.chains[1].items) == ["log"])
    }

    @Test func `a chain without given names can be included twice`() {
        let reading = reading("interceptors: [{ include: [a, a] }]\nchains: { a: [log] }\n")
        #expect(reading.errors == [])
        #expect(names(reading.settings.interceptors) == ["log", "log-2:log"])
    }

    @Test func `a chain responds if what it includes does`() {
        let reading = Reading(
            """
            listen: 127.0.0.1:8080
            chains:
              closed: [{ include: no }]
              no: [{ reject: {} }]
            routes: [{ chain: closed }]
            """
        )
        #expect(reading.errors == [])
    }

    @Test(arguments: [
        (
            "interceptors: [{ include: comon }]\nchains: { common: [] }",
            "3:27: no chain is named \"comon\"; did you mean \"common\"?"
        ),
        ("interceptors: [{ include: common }]", "3:27: no chain is named \"common\"; none is defined"),
        (
            "interceptors: [{ include: }]",
            "3:27: \"include\" cannot be empty; write a string or a list of strings, for example include: common"
        ),
        (
            "interceptors: [include]",
            "3:16: \"include\" cannot be empty; write a string or a list of strings, for example include: common"
        ),
        (
            "interceptors: [{ include: [] }]",
            "3:27: \"include\" is an empty list; write a string or a list of strings, for example include: common"
        ),
        (
            "interceptors: [{ name: a, include: b }]\nchains: { b: [] }",
            "3:18: \"name\" cannot stand beside \"include\"; remove it, or write it in the included chain"
        ),
        (
            "chains: { a: [{ include: a }] }",
            "3:26: the chain \"a\" would include itself (a → a); remove one of the inclusions"
        ),
        (
            "chains:\n  a: [{ include: b }]\n  b: [{ include: c }]\n  c: [{ include: b }]",
            "6:18: the chain \"b\" would include itself (b → c → b); remove one of the inclusions"
        ),
        (
            "interceptors:\n  - { include: b }\n  - { name: x, log: {} }\nchains: { b: [{ name: x, log: {} }] }",
            "5:13: the name \"x\" is already used in this chain on line 6; give each interceptor its own name"
        ),
        (
            "interceptors:\n  - { name: x, log: {} }\n  - { include: b }\nchains: { b: [{ name: x, log: {} }] }",
            "5:16: \"b\" includes an interceptor with the name \"x\", which is already used in this chain on line 4; give each interceptor its own name"
        ),
        (
            "interceptors: [{ include: [b, b] }]\nchains: { b: [{ name: x, log: {} }] }",
            "3:31: \"b\" includes an interceptor with the name \"x\", which is already used in this chain on line 4; give each interceptor its own name"
        ),
        (
            "interceptors: [{ include: a }]\nchains: { a: [{ include: b }], b: [{ name: x, log: {} }, { name: x, log: {} }] }",
            "4:66: the name \"x\" is already used in this chain on line 4; give each interceptor its own name"
        ),
        (
            "chains: { a: [{ include: b }], b: [{ name: \"a b\", log: {} }] }",
            "3:44: \"a b\" is not a valid name; use at most 64 letters, digits, \"-\", \"_\" and \".\""
        ),
    ])
    func `a bad inclusion is named once with its place`(chains: String, error: String) {
        let errors = reading(chains + "\n").errors
        #expect(errors == [error])
    }

    @Test func `what is missing in a chain brings no error about calls that end nowhere`() {
        let errors = Reading("listen: 127.0.0.1:1\ninterceptors: [{ include: a }]\n").errors
        #expect(errors == ["2:27: no chain is named \"a\"; none is defined"])
    }

    @Test func `chains that double at each step end with an error`() {
        let steps = (1...40).map { "  a\($0): [{ include: [a\($0 - 1), a\($0 - 1)] }]\n" }.joined()
        let reading = reading("chains:\n  a0: [log]\n" + steps)
        #expect(
            reading.errors.first
                == "13:24: \"a8\" makes this chain longer than 256 interceptors; include fewer interceptors"
        )
        #expect(reading.settings.chains.allSatisfy { $0.items.count <= 256 })
    }

    @Test func `inclusions go so deep and no deeper, and a long list is named quickly`() {
        let chains = (1..<6000).map { "  c\($0): [{ include: c\($0 - 1) }]\n" }.joined()
        let reading = Reading(
            "listen: 127.0.0.1:1\nupstream: http://127.0.0.1:2\nchains:\n  c0: [metrics]\n\(chains)interceptors: [{ include: c5999 }]"
        )
        #expect(reading.errors.first?.hasSuffix("is included more than 64 levels deep; include it directly") == true)
        let many = Reading(
            "listen: 127.0.0.1:1\nupstream: http://127.0.0.1:2\ninterceptors:\n"
                + String(repeating: "  - log\n", count: 20_000)
        )
        #expect(many.settings.interceptors.last?.name == "log-20000")
    }
}

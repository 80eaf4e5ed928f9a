import Testing

/// Items of a chain that could do nothing are errors, since they look as if they did something.
@Suite struct IdleItemTests {
    @Test(arguments: [
        ("deadline: {}", #"no time is bounded; add "default" or "max", for example max: 1m"#),
        ("deadline: { default: none }", #"no time is bounded; add "default" or "max", for example max: 1m"#),
        ("rewrite: {}", #"nothing is said that would change; add "path", "query" or "authority""#),
        ("rewrite: { query: {} }", #"nothing is said that would change in the query; add "set", "add" or "remove""#),
        ("headers: {}", #"nothing is said that would change; add "request", "response" or "trailers""#),
        ("error: {}", #"nothing is said that would change; add "code", "message", "details: drop" or "metadata""#),
        ("error: { map: [] }", "there is no rule here; add one"),
        ("redact: {}", #"nothing is named that would be redacted; add "headers" or "json""#),
        ("limit: {}", "nothing is limited; add rate, concurrency, message or header"),
        ("message: { on: request }", "nothing is said that would be done with messages; "),
        ("fault: {}", "nothing is said that would go wrong; "),
        (
            "fault: { delay: 1s, message: a }",
            #""message" means nothing without "code" or "cut_after"; add one of them"#
        ),
        ("validate: { rules: [] }", "there is no rule here; add one"),
        ("validate: { rules: [{ next: {} }] }", "all rules let responses pass as they are; "),
    ])
    func `an item that can do nothing is an error`(_ item: String, _ problem: String) {
        let found = problems(item)
        #expect(found.count == 1 && found[0].hasPrefix(problem), "\(found)")
    }

    @Test(arguments: ["request", "response", "trailers"])
    func `rules for headers that change nothing are an error`(_ side: String) {
        let found = problems("headers: { \(side): { set: {} } }")
        #expect(found.count == 1 && found[0].hasPrefix("nothing is said that would change; add \"set\""), "\(found)")
    }

    @Test func `a method of a deadline that has no time of its own is an error`() {
        let found = problems("deadline: { max: 1s, methods: { a.B/C: {} } }")
        #expect(found == [#""a.B/C" has the times of all others; add "default" or "max", or remove it"#])
        #expect(problems("deadline: { max: 1s, methods: { a.B/C: { max: none } } }") == [])
    }
}

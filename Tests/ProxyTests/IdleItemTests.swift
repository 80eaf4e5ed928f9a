import Testing

/// Items of a chain that could do nothing are errors, since they look as if they did something.
@Suite struct IdleItemTests {
    @Test(arguments: [
        ("deadline: {}", #"the interceptor has no time limit; add "default" or "max", for example max: 1m"#),
        (
            "deadline: { default: none }",
            #"the interceptor has no time limit; add "default" or "max", for example max: 1m"#
        ),
        ("rewrite: {}", #"the interceptor changes nothing; add "path", "query" or "authority""#),
        ("rewrite: { query: {} }", #"the rules do not change the query; add "set", "add" or "remove""#),
        ("headers: {}", #"the interceptor changes nothing; add "request", "response" or "trailers""#),
        ("error: {}", #"the rule changes nothing; add "code", "message", "details: drop" or "metadata""#),
        ("error: { map: [] }", "the interceptor has no rule; add \"code\", \"message\", "),
        ("redact: {}", #"the interceptor redacts nothing; add "headers" or "json""#),
        ("limit: {}", "the interceptor has no limit; add \"rate\", \"concurrency\", \"message\" or \"header\""),
        ("message: { on: request }", "the interceptor does nothing; "),
        ("fault: {}", "the interceptor has no fault; "),
        (
            "fault: { delay: 1s, message: a }",
            #""message" has no effect without "code" or "cut_after"; add one of them, or remove it"#
        ),
        ("validate: { rules: [] }", "the interceptor has no rule; add one to \"rules\""),
        ("validate: { rules: [{ next: {} }] }", "no rule changes a response; "),
    ])
    func `an item that can do nothing is an error`(_ item: String, _ problem: String) {
        let found = problems(item)
        #expect(found.count == 1 && found[0].hasPrefix(problem), "\(found)")
    }

    @Test(arguments: ["request", "response", "trailers"])
    func `rules for headers that change nothing are an error`(_ side: String) {
        let found = problems("headers: { \(side): { set: {} } }")
        #expect(found.count == 1 && found[0].hasPrefix("the rules change nothing; add \"set\""), "\(found)")
    }

    @Test func `a method of a deadline that has no time of its own is an error`() {
        let found = problems("deadline: { max: 1s, methods: { a.B/C: {} } }")
        #expect(found == [#""a.B/C" changes nothing; add "default" or "max", or remove it"#])
        #expect(problems("deadline: { max: 1s, methods: { a.B/C: { max: none } } }") == [])
    }
}

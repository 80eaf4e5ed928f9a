import Configuration
import Testing

/// The calls that an interceptor takes part in, and how often it runs.
struct ScopeTests {
    /// What is read of one interceptor with these keys, in line 3 from column 19 on.
    private func reading(_ keys: String) -> Reading {
        Reading("listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:9000\ninterceptors: [ { \(keys), log: {} } ]\n")
    }

    private func item(_ keys: String) throws -> ChainItem {
        let reading = reading(keys)
        #expect(reading.errors == [])
        return try #require(reading.settings.interceptors.first)
    }

    @Test func `an interceptor applies to one shape of calls or to both`() throws {
        #expect(try item("name: a").applies == [.unary, .stream])
        #expect(try item("applies: unary").applies == .unary)
        #expect(try item("applies: [stream]").applies == .stream)
        #expect(try item("applies: [stream, unary]").applies == .all)
    }

    @Test func `an interceptor runs as often as is said, or as its kind has it`() throws {
        #expect(try item("name: a").per == nil)
        #expect(try item("per: call").per == .call)
        #expect(try item("per: attempt").per == .attempt)
    }

    @Test(arguments: [
        ("applies: []", "3:28: \"applies\" is an empty list; write unary or stream, or remove it"),
        ("applies: both", "3:28: \"applies\" cannot be \"both\"; expected one of: unary, stream"),
        (
            "applies: { unary: true }",
            "3:28: \"applies\" cannot be a mapping; write one of unary, stream, or a list of them"
        ),
        ("applies: [unary, strem]", "3:36: \"applies\" cannot be \"strem\"; did you mean \"stream\"?"),
        ("per: atempt", "3:24: \"per\" cannot be \"atempt\"; did you mean \"attempt\"?"),
        ("aplies: unary", "3:19: unknown key \"aplies\"; did you mean \"applies\"?"),
    ])
    func `a mistake is named with its place and what would be right`(keys: String, error: String) {
        #expect(reading(keys).errors == [error])
    }

    @Test(arguments: [("applies: unary", "applies: stream"), ("per: call", "per: attempt")])
    func `items differ when their scope does`(old: String, new: String) throws {
        #expect(try item(old) == item(old))
        #expect(try item(old) != item(new))
    }
}

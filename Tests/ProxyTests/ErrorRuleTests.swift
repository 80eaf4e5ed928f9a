import Configuration
import RPC
import Testing

@testable import Interceptors
@testable import Proxy

/// What the kind `error` makes of errors.
@Suite struct ErrorRuleTests {
    private func rule(_ yaml: String) -> ErrorRule {
        ErrorRule(options(yaml, ErrorRule.options))
    }

    private let original = RPCError(
        .unavailable,
        "no {code} there",
        details: [ErrorDetail(type: "pkg.Why", value: [1])],
        httpStatus: 502
    )

    @Test func `a rule is for its codes, or for all`() {
        #expect(rule("{from: [unavailable, aborted], code: internal}").applies(to: .aborted))
        #expect(!rule("{from: [unavailable, aborted], code: internal}").applies(to: .internal))
        #expect(rule("{code: internal}").applies(to: .dataLoss))
    }

    @Test func `what is not said stays`() {
        var expected = original
        expected.code = .resourceExhausted
        expected.httpStatus = nil
        #expect(rule("{code: resource_exhausted}").changed(original) == expected)
        #expect(rule("{metadata: {x-a: b}}").changed(original) == original)
    }

    @Test func `the status of the upstream stays with its code`() {
        #expect(rule("{code: unavailable, message: m}").changed(original).httpStatus == 502)
    }

    @Test func `a message may have what has come in it, which is not looked into`() {
        let new = rule("{code: aborted, message: '{code}: {message}, {message}'}").changed(original)
        #expect(new.message == "unavailable: no {code} there, no {code} there")
    }

    @Test func `details go if that is said`() {
        #expect(rule("{details: drop}").changed(original).details == [])
    }

    @Test(arguments: [
        (
            "{}",
            #"the rule changes nothing; add "code", "message", "details: drop" or "metadata""#
        ),
        ("{from: unavailble, code: internal}", #""from" cannot be "unavailble"; did you mean "unavailable"?"#),
        ("{message: 'no {x}'}", "a message can contain only {code} and {message}; write \"{{\" for a plain brace"),
        (#"{metadata: {x-a: "1\n2"}}"#, "a header value cannot contain control characters; remove them"),
        (
            "{metadata: {grpc-status: '0'}}",
            "the header grpc-status belongs to the protocol; a rule cannot change it"
        ),
        (
            "{code: internal, map: [{code: aborted}]}",
            #""map" and "code" cannot be set together; write "code" into a rule"#
        ),
    ])
    func `a rule that cannot be meant is rejected`(_ options: String, _ problem: String) {
        #expect(problems("error: \(options)") == [problem])
    }
}

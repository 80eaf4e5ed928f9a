import Configuration
import Events
import RPC
import Testing
import Time

@testable import Interceptors
@testable import Proxy

/// What the kind `fault` is told.
@Suite struct FaultTests {
    private func fault(_ yaml: String) -> Fault {
        Fault(options(yaml, Fault.options))
    }

    private func error(_ code: RPCCode, _ message: String = "a fault on purpose") -> Fault.Ending {
        .error(RPCError(code, message))
    }

    @Test func `a delay is short for one of the request`() {
        #expect(fault("{delay: 150ms}") == fault("{delay: {time: 150ms, on: request}}"))
        #expect(fault("{delay: 150ms}").delay == 150 * .millisecond)
        #expect(!fault("{delay: 150ms}").isOnResponse)
        #expect(fault("{delay: {time: 1s, on: response}}").isOnResponse)
    }

    @Test func `an error comes at the head, or after some messages`() {
        #expect(fault("{code: aborted, message: m}").headEnding == error(.aborted, "m"))
        #expect(fault("{code: aborted, cut_after: 2}").headEnding == nil)
        #expect(fault("{code: aborted, cut_after: 2}").ending(after: 1) == nil)
        #expect(fault("{code: aborted, cut_after: 2}").ending(after: 2) == error(.aborted))
        #expect(fault("{cut_after: 0}").ending(after: 0) == error(.unavailable))
        #expect(fault("{cut_after: 1, reset: true}").ending(after: 3) == .reset)
        #expect(fault("{reset: true}").headEnding == .reset)
        #expect(fault("{reset: true}").ending(after: 9) == nil)
    }

    @Test(arguments: [
        ("delay=150ms; code=unavailable; percentage=50", "{delay: 150ms, code: unavailable, percentage: '50'}"),
        ("code=aborted;message=not now = later", "{code: aborted, message: 'not now = later'}"),
        (" reset ;; cut_after=3;", "{reset: true, cut_after: 3}"),
        ("throttle=64KiB", "{throttle: 64KiB}"),
        ("on=response; code=internal", "{delay: {time: 0s, on: response}, code: internal}"),
        ("delay=1s; on=response", "{delay: {time: 1s, on: response}}"),
        ("", "{}"),
    ])
    func `a caller says it like the file`(_ field: String, _ yaml: String) throws {
        #expect(try Fault.read(field) == fault(yaml))
    }

    @Test(arguments: [
        ("delay=soon", #""time" cannot be "soon"; "#),
        ("code=ok", #""code" cannot be "ok"; "#),
        ("percentage=101", #""percentage" cannot be "101"; "#),
        ("cut_after=-1", #""cut_after" cannot be "-1"; "#),
        ("cod=aborted", #"unknown key "cod"; did you mean "code"?"#),
        ("code=aborted; code=internal", #""code" occurs twice"#),
        ("from_header=true", #"unknown key "from_header"; "#),
        ("nonsense", #"unknown key "nonsense"; "#),
    ])
    func `what a caller cannot say is reported`(_ field: String, _ problem: String) {
        let reported = #expect(throws: Fault.Malformed.self) { try Fault.read(field) }
        #expect(reported?.text.hasPrefix(problem) == true)
    }

    @Test(arguments: ["-1", "100.1", "half", "", "1e1", "1.2.3", "nan"])
    func `a percentage is a number of a hundred`(_ text: String) {
        let problem = "\"percentage\" cannot be \"\(text)\"; write a number from 0 to 100, such as 0.5"
        #expect(problems("fault: {code: aborted, percentage: '\(text)'}") == [problem])
    }

    @Test(arguments: ["0", "0.5", "100", ".25", "99.999"])
    func `a percentage has decimals`(_ text: String) {
        #expect(problems("fault: {code: aborted, percentage: \(text)}") == [])
        #expect(fault("{percentage: \(text)}").percentage == Double(text))
    }

    @Test(arguments: [
        (
            "{percentage: 5}",
            "the interceptor has no fault; "
                + #"add "delay", "code", "reset", "cut_after", "throttle" or "from_header: true""#
        ),
        ("{reset: true, code: aborted}", #""code" and "reset" cannot be set together; write only one of them"#),
    ])
    func `a fault that cannot be meant is rejected`(_ options: String, _ problem: String) {
        #expect(problems("fault: \(options)") == [problem])
    }
}

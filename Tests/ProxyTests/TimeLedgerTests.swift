import Events
import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// Where the time of a call has gone.
@Suite struct TimeLedgerTests {
    @Test func `each phase gets its own time, and what is short is left out`() {
        var ledger = TimeLedger(at: .start + 10 * .second)
        ledger.enter(.connecting, at: .start + 10 * .second + .nanoseconds(999_999))
        ledger.enter(.attempt, at: .start + 11 * .second)
        ledger.wait(3, at: .start + 13 * .second)
        ledger.enter(.chain, at: .start + 13 * .second + 500 * .millisecond)
        ledger.enter(.connecting, at: .start + 13 * .second + 500 * .millisecond)
        ledger.enter(.attempt, at: .start + 13 * .second + 600 * .millisecond)
        let spent = ledger.spent(at: .start + 14 * .second).map { ($0.phase, $0.time / .millisecond) }
        #expect(spent.map(\.0) == [.waiting, .connecting, .attempt])
        #expect(spent.map(\.1) == [500, 1099, 2400])
        #expect(ledger.index == 3)
    }

    @Test func `an expired deadline says where the time went, in the order of the way`() {
        let yaml = """
            listen: 127.0.0.1:8080
            upstreams: {api: {url: "h2c://127.0.0.1:9000"}}
            interceptors:
              - {name: auth, token: {oauth2: {token_url: "http://127.0.0.1:1/token", client_id: me}}}
              - {log: {to: stderr}}
            """
        runProxy(yaml) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", ("grpc-timeout", "1S")), .data(1, envelope("{}"), end: true))
            harness.pass(.milliseconds(300))
            harness.deliver("one")
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            harness.pass(.milliseconds(720))
            let spent = "0.300 s waiting in interceptor auth, 0.720 s in an attempt on api"
            #expect(caller.next().contains("grpc-message: request exceeded allowed timeout: \(spent)"))
        }
    }
}

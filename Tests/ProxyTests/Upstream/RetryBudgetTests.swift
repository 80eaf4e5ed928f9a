import Configuration
import Documents
import Events
import HTTP2Kit
import Policy
import Testing
import Time

@testable import Proxy

/// How an upstream reads and uses its budget of retries.
@Suite struct RetryBudgetTests {
    @Test(arguments: [("0", 0), ("0.2", 200), ("1", 1000), ("10", 10_000), ("0.125", 125), ("2.5", 2500)])
    func `a ratio is a number`(_ text: String, _ expected: Int) {
        let diagnostics = Diagnostics()
        #expect(ratio(text, into: diagnostics) == expected)
        #expect(diagnostics.isEmpty)
    }

    @Test(arguments: ["", "-1", "11", "10.001", "0.2000", ".5", "1.", "1.2.3", "20%", "1e3", "١"])
    func `what is no ratio is an error`(_ text: String) {
        let diagnostics = Diagnostics()
        _ = ratio(text, into: diagnostics)
        let advice = "write a number from 0 to 10 with at most three decimals, such as 0.2"
        #expect(diagnostics.sorted.map(\.message) == ["\"ratio\" cannot be \"\(text)\"; \(advice)"])
    }

    private func ratio(_ text: String, into diagnostics: Diagnostics) -> Int? {
        let yaml = "listen: 127.0.0.1:1\nupstreams: {a: {url: \"http://a\", retry_budget: {ratio: \"\(text)\"}}}"
        let settings = Settings(YAML.parse(Array(yaml.utf8), into: diagnostics), into: diagnostics)
        return settings.upstream(named: "a")?.retryBudget.perThousand
    }

    @Test func `a call that is forwarded is counted once, however often it is sent`() {
        let yaml =
            "listen: 127.0.0.1:8080\nupstreams: {default: {url: \"http://127.0.0.1:9000\", retry_budget: {ratio: 1, min_per_second: 0}}}"
        runProxy(yaml) { harness in
            let caller = harness.caller()
            caller.send(get)
            let first = harness.upstream().accept()
            first.expect(gotUpstream)
            first.send(fine)
            caller.expect(fine)
            // The connection turns out to be dead.
            first.reset()
            caller.send(get)
            let second = harness.upstream().accept()
            second.expect(gotUpstream)
            second.send(fine)
            caller.expect(fine)
            let upstream = harness.worker.generation.upstreams["default"]
            let now = harness.clock.now
            var granted = 0
            while granted < 5, upstream?.budget.withdraw(at: now) == true { granted += 1 }
            #expect(granted == 2)
        }
    }
}

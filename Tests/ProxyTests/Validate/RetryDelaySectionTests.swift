import Configuration
import Policy
import Testing
import Time

@testable import Interceptors
@testable import Proxy

/// How a delay is read from the options of a configuration.
@Suite struct RetryDelaySectionTests {
    private func read(_ yaml: String) -> RetryDelay {
        RetryDelay(options(yaml, RetryDelay.options))
    }

    private func problems(_ yaml: String) -> [String] {
        let diagnostics = Diagnostics()
        _ = RetryDelay(options(yaml, RetryDelay.options, into: diagnostics))
        return diagnostics.sorted.map(\.message)
    }

    @Test(arguments: [
        ("{immediate: {}}", RetryDelay(.immediate)),
        ("{delayed: 3s}", RetryDelay(.delayed(3 * .second))),
        ("{exponential: 2}", RetryDelay(.exponential(base: 2))),
        ("{exponential: 1.5}", RetryDelay(.exponential(base: 1.5))),
        ("{fibonacci: {}}", RetryDelay(.fibonacci)),
        ("{exponential: 2, unit: 100ms}", RetryDelay(.exponential(base: 2), unit: 100 * .millisecond)),
        ("{fibonacci: {}, unit: 2s, cap: 5s}", RetryDelay(.fibonacci, unit: 2 * .second, cap: 5 * .second)),
        ("{delayed: 3s, cap: 1s}", RetryDelay(.delayed(3 * .second), cap: .second)),
        (
            "{exponential: 2, unit: 1ms, cap: 1m, jitter: 0.5}",
            RetryDelay(.exponential(base: 2), unit: .millisecond, cap: 60 * .second, jitter: 0.5)
        ),
    ])
    func `a delay says what the options say, and no more`(_ yaml: String, _ delay: RetryDelay) {
        #expect(read(yaml) == delay)
    }

    @Test(arguments: [
        ("{}", "write exactly one of them"),
        ("{immediate: {}, fibonacci: {}}", "cannot be set together"),
        ("{exponential: 0.5}", #""exponential" cannot be "0.5"; write a number from 1 to 1000, such as 2"#),
        ("{exponential: 1e9}", #""exponential" cannot be "1e9""#),
        ("{exponential: nan}", #""exponential" cannot be "nan""#),
        ("{delayed: none}", #""delayed" cannot be none"#),
        ("{delayed: 3}", #""delayed" cannot be "3""#),
        ("{immediate: {}, unit: none}", #""unit" cannot be none"#),
        ("{immediate: {}, jitter: 1.5}", #""jitter" cannot be "1.5"; write a number from 0 to 1, such as 0.5"#),
        ("{immediate: {}, jitter: -0.5}", #""jitter" cannot be "-0.5""#),
        ("{immediate: {after: 1s}}", "unknown key"),
    ])
    func `what makes no sense is reported`(_ yaml: String, _ problem: String) {
        let problems = problems(yaml)
        #expect(problems.count == 1)
        #expect(problems.first?.contains(problem) == true, "\(problems)")
    }
}

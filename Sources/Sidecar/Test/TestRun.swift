internal import Configuration
internal import Proxy
internal import Time

/// What came of a test.
struct TestResult {
    let file: String
    let name: String
    let mark: Mark
    let seed: UInt64
    /// What is not as expected; nothing if the test has passed.
    private(set) var failures: [TestFailure] = []
    /// What was needed and not given.
    private(set) var missing: [String] = []
    /// What `martlet explain` prints of the call that is not as expected.
    private(set) var explained: [String] = []
    /// The real time that it took.
    private(set) var took = Duration.zero

    var hasPassed: Bool { failures.isEmpty && missing.isEmpty }

    /// Runs a test.
    init(of test: TestFile.Test, in file: TestFile, _ coverage: TestCoverage, _ clock: () -> Instant) {
        (self.file, name, mark, seed) = (file.path, test.name, test.mark, test.givens.seed)
        let start = clock()
        let rehearsal = Rehearsal(file.loaded.plan, test.givens)
        for (number, step) in test.steps.enumerated() {
            rehearsal.pass(step.after)
            let prefix = test.steps.count > 1 ? "steps[\(number)]." : ""
            switch step.call.request(rehearsal) {
            case .failure(let problem):
                failures.append(TestFailure(place: "\(prefix)call", expected: "a valid message", seen: problem.text))
            case .success(let request): run(request, step, prefix, rehearsal, file, coverage)
            }
        }
        missing = rehearsal.missing
        took = clock() - start
    }

    private mutating func run(
        _ request: RehearsedRequest,
        _ step: TestFile.Step,
        _ prefix: String,
        _ rehearsal: Rehearsal,
        _ file: TestFile,
        _ coverage: TestCoverage
    ) {
        let before = rehearsal.metrics
        let call = rehearsal.call(request)
        coverage.note(call, file.names)
        var changes = rehearsal.metrics
        for (name, value) in before { changes[name] = (changes[name] ?? 0) - value }
        var found = step.check.failures(call, changes, file.names)
        if !call.hasEnded {
            found.append(TestFailure(place: "call", expected: "an end", seen: "none within a day of its clock"))
        }
        if !found.isEmpty, explained.isEmpty { explained = call.explained.map(rehearsal.masked) }
        failures += found.map {
            TestFailure(place: prefix + $0.place, expected: $0.expected, seen: rehearsal.masked($0.seen))
        }
    }

    /// The result in lines for people.
    var lines: [String] {
        guard !hasPassed else { return ["ok    \(name)"] }
        var lines = ["FAIL  \(name)", "      at \(file):\(mark), seed \(seed)"]
        for text in missing { lines.append("      \(text)") }
        for failure in failures {
            lines.append("      \(failure.place)")
            lines.append("        expected  \(failure.expected)")
            lines.append("        seen      \(failure.seen)")
        }
        return lines + explained.map { "      | \($0)" }
    }
}

/// The routes and interceptors that tests have reached.
final class TestCoverage {
    private var all: [String] = []
    private var reached: Set<String> = []

    /// Adds what there is in a configuration.
    func add(_ settings: Settings) {
        let routes = settings.routes.enumerated().map { "route \($1.name?.text ?? "\($0)")" }
        let items = settings.interceptors + settings.chains.flatMap(\.items)
        for name in routes + items.map({ "interceptor \($0.name)" }) where !all.contains(name) { all.append(name) }
    }

    /// A test has made a call.
    func note(_ call: RehearsedCall, _ names: TestNames) {
        for route in names.route(of: call) { reached.insert("route \(route)") }
        for interceptor in call.interceptors { reached.insert("interceptor \(interceptor)") }
    }

    /// What no test has reached.
    var missed: [String] { all.filter { !reached.contains($0) } }

    /// How much of all was reached.
    var percent: Int { all.isEmpty ? 100 : (all.count - missed.count) * 100 / all.count }
}

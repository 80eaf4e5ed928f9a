internal import Configuration
internal import Events
private import Glibc
internal import Proxy

/// `martlet test`: runs files of tests on their configurations, without any network.
struct TestCommand {
    private let paths: [String]
    /// The tape that tests are to be made of, and the configuration that they are for.
    private let source: (tape: String, configuration: ConfigurationFile)?
    private let registry: Registry
    private let configuration: String?
    private let filter: String?
    private let output: String
    private let junit: String?
    private let covers: Bool
    private let minCover: Int?

    /// Reads the rest of the command line.
    init(_ invocation: Invocation, _ registry: Registry) throws(UsageError) {
        paths = invocation.operands
        source = invocation[.fromTape].map { ($0, ConfigurationFile.find(invocation[.config], registry)) }
        if paths.isEmpty == (source == nil) {
            throw invocation.error("test needs FILE, or --from-tape TAPE; for example martlet test tests/*.yaml")
        }
        self.registry = registry
        configuration = invocation[.config]
        filter = invocation[.onlyTests]
        output = invocation[.output] ?? "text"
        junit = invocation[.junit]
        minCover = invocation[.minCover].flatMap { Int($0) }
        if let text = invocation[.minCover], !(minCover.map { 0...100 ~= $0 } ?? false) {
            throw invocation.error("\(Diagnostic.quote(text)) is not a percentage; write for example --cover-min 80")
        }
        covers = invocation.has(.cover) || minCover != nil
    }

    func run() -> Exit {
        if let source { return Self.write(source.tape, source.configuration) }
        var (results, coverage) = ([TestResult](), TestCoverage())
        for path in paths {
            do throws(ConfigurationFile.Rejection) {
                let file = try TestFile(path, configuration: configuration, registry)
                file.warnings.forEach(Terminal.complain)
                coverage.add(file.loaded.plan.settings)
                for test in file.tests where filter.map({ test.name.contains($0) }) ?? true {
                    let result = TestResult(of: test, in: file, coverage) { Clock.system.now }
                    results.append(result)
                    if output == "json" {
                        Terminal.write(TestReport.json(result))
                    } else {
                        result.lines.forEach(Terminal.print)
                    }
                }
            } catch {
                error.lines.forEach(Terminal.complain)
                return .configuration
            }
        }
        if results.isEmpty {
            Terminal.complain(
                "martlet: there is no test\(filter.map { " whose name contains \(Diagnostic.quote($0))" } ?? "")"
            )
            return .failure
        }
        let failed = results.count { !$0.hasPassed }
        if output == "text" {
            Terminal.print("\(results.count == 1 ? "1 test" : "\(results.count) tests"), \(failed) failed")
        }
        let isCovered = reportCoverage(coverage)
        if let junit, !write(TestReport.junit(results), to: junit) { return .failure }
        return failed == 0 && isCovered ? .success : .failure
    }

    /// Prints tests that are made of a tape.
    private static func write(_ tape: String, _ file: ConfigurationFile) -> Exit {
        let upstreams: [String]
        do throws(ConfigurationFile.Rejection) {
            upstreams = try file.load().plan.settings.upstreams.map(\.name)
        } catch {
            error.lines.forEach(Terminal.complain)
            return .configuration
        }
        do throws(SystemError) {
            let tests = try TestsFromTape(tape, configuration: file.name, upstreams: upstreams)
            Terminal.write(tests.text)
            for reason in tests.skipped { Terminal.complain("martlet: no test for \(reason)") }
            return .success
        } catch {
            Terminal.complain("martlet: cannot read \(tape): \(error.text)")
            return .failure
        }
    }

    /// Prints what no test has reached, if that is asked for; false if that is too much.
    private func reportCoverage(_ coverage: TestCoverage) -> Bool {
        guard covers else { return true }
        let print = output == "json" ? Terminal.complain : Terminal.print
        print("\(coverage.percent) % of routes and interceptors reached")
        for name in coverage.missed { print("  not reached: \(name)") }
        guard let minCover, coverage.percent < minCover else { return true }
        print("  expected: at least \(minCover) %")
        return false
    }

    private func write(_ text: String, to path: String) -> Bool {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            Terminal.complain("martlet: cannot write \(path): \(SystemError(errno).text)")
            return false
        }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else {
                Terminal.complain("martlet: cannot write \(path): \(SystemError(errno).text)")
                return false
            }
            written += count
        }
        return true
    }
}

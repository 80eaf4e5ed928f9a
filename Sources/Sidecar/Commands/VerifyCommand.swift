internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import Interceptors
internal import Proxy

/// `martlet verify`: asks the running daemon what calls its mocks have served, and compares them with a file.
struct VerifyCommand {
    /// The most calls that are shown beside an expectation that does not hold.
    private static let shownCalls = 10

    private let path: String
    private let configuration: String?
    private let address: String?

    /// Reads the rest of the command line.
    init(_ invocation: Invocation) {
        path = invocation.operands[0]
        (configuration, address) = (invocation[.config], invocation[.admin])
    }

    func run() -> Exit {
        let expected: [(mock: String, expectations: [MockExpectation])]
        do throws(ConfigurationFile.Rejection) {
            expected = try Self.read(path)
        } catch {
            error.lines.forEach(Terminal.complain)
            return .configuration
        }
        guard let targets = AdminCommand.targets(file: configuration, named: address) else {
            return address == nil ? .configuration : .usage
        }
        var failed = 0
        for (mock, expectations) in expected {
            guard let text = AdminCommand.text("GET", "/mocks/\(mock)/calls", targets), let page = Self.page(text)
            else {
                return .failure
            }
            failed += expectations.count { !Self.check($0, mock, page, path) }
        }
        let count = expected.reduce(0) { $0 + $1.expectations.count }
        Terminal.print("\(count == 1 ? "1 expectation" : "\(count) expectations"), \(failed) failed")
        return failed == 0 ? .success : .failure
    }

    /// The expectations of a file, by the names of mocks.
    private static func read(_ path: String) throws(ConfigurationFile.Rejection)
        -> [(mock: String, expectations: [MockExpectation])]
    {
        let diagnostics = Diagnostics()
        let root = try ConfigurationFile.parse(path, into: diagnostics)
        var expected: [(mock: String, expectations: [MockExpectation])] = []
        if let entries = root?.entries {
            expected = entries.map { entry in
                guard case .sequence(let items) = entry.value.content else {
                    let problem = "\"\(entry.key)\" cannot be \(entry.value.summary)"
                    diagnostics.report("\(problem); write a list of expectations", at: entry.value.mark)
                    return (entry.key, [])
                }
                return (entry.key, items.map { MockExpectation($0, into: diagnostics) })
            }
        } else if diagnostics.isEmpty {
            diagnostics.report("the file has no expectations; write a mapping of mocks to lists", at: .start)
        }
        guard diagnostics.isEmpty else { throw ConfigurationFile.Rejection(lines: diagnostics.lines(file: path)) }
        return expected
    }

    /// A journal's page; what has been forgotten is told, as it cannot be counted.
    private static func page(_ text: String) -> JSONValue? {
        guard let page = try? JSON.parse(Array(text.utf8)) else { return nil }
        if let removed = page["removed"]?.integer, removed > 0, let name = page["mock"]?.string {
            let advice = "give it a larger \"journal\", or remove its calls between tests"
            Terminal.complain("martlet: mock \(name) has removed \(MockExpectation.calls(removed)); \(advice)")
        }
        return page
    }

    /// Prints whether an expectation holds, and what came instead if it does not.
    private static func check(
        _ expectation: MockExpectation,
        _ mock: String,
        _ page: JSONValue,
        _ path: String
    ) -> Bool {
        let place = "\(path):\(expectation.mark)"
        guard let count = expectation.count(in: page) else {
            Terminal.print("FAIL  \(place)  \(mock): the mock has no tape")
            return false
        }
        if let doubt = expectation.doubt(about: page) {
            Terminal.print("FAIL  \(place)  \(mock): \(expectation.subject): nobody knows, as \(doubt)")
            return false
        }
        guard !expectation.holds(for: count) else {
            Terminal.print("ok    \(place)  \(mock): \(expectation.subject): \(MockExpectation.calls(count))")
            return true
        }
        let subject = expectation.subject
        Terminal.print("FAIL  \(place)  \(mock): \(subject): expected \(expectation.countText), saw \(count)")
        if let unplayed = expectation.unplayed(in: page) {
            for call in unplayed.prefix(shownCalls) { Terminal.print("        \(ShownText.escaped(call))") }
            return false
        }
        let calls = expectation.evidence(in: page)
        for call in calls.suffix(shownCalls) { Terminal.print("        \(ShownText.escaped(line(call)))") }
        let rest = calls.count - shownCalls
        if rest > 0 { Terminal.print("        and \(MockExpectation.calls(rest)) before") }
        return false
    }

    /// A call in one line.
    private static func line(_ call: JSONValue) -> String {
        let name = call.pointer("/request/call")?.string ?? ""
        let number = call["number"]?.integer ?? 0
        var messages = ""
        if case .array(let received)? = call["received"], let first = received.first {
            messages = " \(String(decoding: (first["json"] ?? .null).bytes.prefix(200), as: UTF8.self))"
            if received.count > 1 { messages += " and \(received.count - 1) more" }
        }
        let status = call["status"]?.integer.map { "\($0)" }
        let other = call["failed"] == nil ? call["canceled"] == nil ? "open" : "canceled" : "failed"
        let end = call["code"]?.string ?? status ?? other
        let lack = call["unmatched"]?.string.map { ", unmatched: \($0)" } ?? ""
        var differences = ""
        if case .array(let all)? = call["differences"], !all.isEmpty {
            differences = ", differs: \(all.compactMap(\.string).joined(separator: "; "))"
        }
        return "#\(number) \(name)\(messages): \(end)\(lack)\(differences)"
    }
}

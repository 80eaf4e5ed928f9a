internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import HTTP

/// Recorded calls that a mock plays back.
struct Tape: Sendable {
    /// Which call is played to a request.
    enum Order: String, Sendable {
        case any, recorded
    }

    let order: Order
    let repeats: Bool
    let comparesLive: Bool
    /// That there is no file: to be reported unless what is missing is to be recorded.
    private(set) var missing: MarkedString?
    /// The numbers of the calls that are played; none is all.
    private let calls: Set<Int>
    /// Tells the tape from another one in the same place.
    private(set) var digest = 0
    private(set) var rules: [MockRule] = []

    /// Reads the tape that the options of a mock name, if they do; what is wrong with it is reported.
    init?(_ section: Section) {
        guard section.has("tape") else {
            for key in ["order", "repeat", "timing", "match", "diff", "calls"] where section.has(key) {
                section.reportUnused(key, without: "tape")
            }
            return nil
        }
        for key in ["methods", "rules"] where section.has(key) { section.reportConflict("tape", key) }
        order = Order(rawValue: section.string("order")) ?? .any
        repeats = section.bool("repeat")
        comparesLive = section.bool("diff")
        calls = Set(section.integers("calls"))
        let path = section.string("tape")
        do throws(SystemError) {
            digest = try read(path, section)
        } catch {
            digest = 0
            let problem = "cannot read \(path): \(error.text); write the path of a readable file"
            if error == .noFile {
                missing = MarkedString(problem, at: section.mark(of: "tape"))
            } else {
                section.report(problem, at: "tape")
            }
        }
    }

    /// Reads the calls of a file.
    ///
    /// - Returns: what tells it from a file with other calls.
    private mutating func read(_ path: String, _ section: Section) throws(SystemError) -> Int {
        var (reader, hasher) = (try TapeReader(file: path), Hasher())
        let form = TapeForm(section)
        while let document = try reader.next() {
            guard calls.isEmpty || calls.contains(document.number) else { continue }
            hasher.combine(document.bytes)
            let diagnostics = Diagnostics()
            let node = YAML.parse(document.bytes, into: diagnostics)
            let options = node.map { Section($0, MockSettings.tapeOptions, into: diagnostics) }
            let rule = options.map { MockRule(recorded: $0, number: document.number, index: rules.count, form) }
            let isTorn = !diagnostics.isEmpty && !document.hasEndMark && document.bytes.starts(with: "---".utf8)
            if document.isLast, !reader.isWhole(document) || isTorn {
                // A recording that was broken off ends in the middle.
                let problem = "the last call of \(path) is not whole, and is not played"
                section.diagnostics.warn("\(problem); record it again", at: section.mark(of: "tape"))
            } else if let problem = diagnostics.sorted.first {
                let place = "\(path):\(document.line + problem.mark.line - 1):\(problem.mark.column)"
                section.report("\(place): \(problem.message)", at: "tape")
            } else if let rule {
                rules.append(rule)
            }
        }
        return hasher.finalize()
    }
}

/// How the calls of a tape are played, and told apart.
struct TapeForm: Sendable {
    /// By how much the recorded times are divided; none sends at once.
    let speed: Double?
    let headers: [FieldName]
    let ignored: [JSONPointer]

    init(_ section: Section) {
        let timing = section.string("timing")
        switch timing {
        case "none": speed = nil
        case "recorded": speed = 1
        default:
            speed =
                timing.hasSuffix("x") ? Double(timing.dropLast()).flatMap { 0.001...1_000_000 ~= $0 ? $0 : nil } : nil
            if speed == nil {
                let advice = "write none, recorded, or a factor from 0.001x, such as 2x"
                section.report("\"timing\" cannot be \(Diagnostic.quote(timing)); \(advice)", at: "timing")
            }
        }
        let match = section.section("match")
        headers = match.strings("headers").map { FieldName($0) }
        ignored = match.markedStrings("ignore").compactMap { text in
            let pointer = JSONPointer(text.text)
            if pointer == nil {
                let problem = "\(Diagnostic.quote(text.text)) is not a JSON Pointer"
                section.diagnostics.report("\(problem); write for example /request_id", at: text.mark)
            }
            return pointer
        }
    }
}

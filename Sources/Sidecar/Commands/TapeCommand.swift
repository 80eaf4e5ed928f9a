internal import Configuration
internal import Documents
internal import Events
internal import Interceptors
internal import Patterns

/// `martlet tape`: works with recorded calls, and prints documents as they stand in the file.
struct TapeCommand {
    /// What is to be done.
    private enum Action: String, CaseIterable {
        case ls, show, cut, merge
    }

    private let action: Action
    private let paths: [String]
    private let numbers: Set<Int>
    private let pattern: String?
    private let range: ClosedRange<Int>

    /// Reads the rest of the command line.
    init(_ invocation: Invocation) throws(UsageError) {
        let operands = invocation.operands
        guard let action = Action(rawValue: operands[0]) else {
            throw UsageError("unknown action", operands[0], among: Action.allCases.map(\.rawValue))
        }
        self.action = action
        paths = action == .merge ? Array(operands[1...]) : [operands[1]]
        var numbers: Set<Int> = []
        for text in action == .merge ? [] : operands[2...] {
            guard action == .show else {
                throw invocation.error("tape \(action.rawValue) reads one file; \(Diagnostic.quote(text)) is one more")
            }
            numbers.insert(try Self.number(text, invocation))
        }
        self.numbers = numbers
        for option in [CommandOption.call, .from, .to] where action != .cut && invocation.has(option) {
            throw invocation.error("--\(option.long) is an option of tape cut")
        }
        pattern = invocation[.call]
        let from = try invocation[.from].map { text throws(UsageError) in try Self.number(text, invocation) } ?? 1
        let to = try invocation[.to].map { text throws(UsageError) in try Self.number(text, invocation) } ?? Int.max
        guard from <= to else { throw invocation.error("--from \(from) is behind --to \(to); swap them") }
        range = from...to
    }

    private static func number(_ text: String, _ invocation: Invocation) throws(UsageError) -> Int {
        guard let number = Int(text), number > 0 else {
            throw invocation.error("\(Diagnostic.quote(text)) is not the number of a call; write 1 for the first")
        }
        return number
    }

    func run() -> Exit {
        if action == .merge { return merge() }
        var (missing, wasCut) = (numbers, false)
        let exit = each(paths[0]) { document, call, _ in
            switch action {
            case .ls: Terminal.print(Self.line(document.number, call))
            case .show:
                missing.remove(document.number)
                if numbers.isEmpty || numbers.contains(document.number) {
                    Terminal.write(ShownText.escaped(document.bytes))
                }
            case .cut:
                let isNamed = pattern.map { Glob.matches(call.name[...], $0[...]) } ?? true
                guard isNamed, range.contains(document.number) else { break }
                wasCut = true
                Terminal.write(document.bytes)
            case .merge: break
            }
        }
        for number in missing.sorted() { Terminal.complain("martlet: \(paths[0]) has no call \(number)") }
        if action == .cut, !wasCut, exit == .success {
            let advice = pattern.flatMap { $0.contains("*") ? nil : "; write for example --call '*\($0)'" } ?? ""
            Terminal.complain("martlet: \(paths[0]) has no such call\(advice)")
            return .failure
        }
        return missing.isEmpty ? exit : .failure
    }

    /// Calls `body` with each document of a file that is whole; the others are told of.
    private func each(_ path: String, _ body: (TapeReader.Document, TapeCall, FilePieces) -> Void) -> Exit {
        var exit = Exit.success
        do throws(SystemError) {
            var reader = try TapeReader(path)
            while let document = try reader.next() {
                let diagnostics = Diagnostics()
                if let call = TapeCall(document.bytes, into: diagnostics), reader.isWhole(document) {
                    body(document, call, reader.pieces)
                } else if document.isLast, document.number > 1 || document.bytes.starts(with: "---".utf8) {
                    Terminal.complain("martlet: the last call of \(path) is not whole, and is passed over")
                } else {
                    let problem = diagnostics.sorted.first
                    let place = problem.map { "\(path):\(document.line + $0.mark.line - 1):\($0.mark.column)" }
                    Terminal.complain("\(place ?? path): \(problem?.message ?? "the call is not whole")")
                    exit = .failure
                }
            }
        } catch {
            Terminal.complain("martlet: cannot read \(path): \(error.text)")
            return .failure
        }
        return Terminal.outputError == nil ? exit : .failure
    }

    // MARK: ls

    private static func line(_ number: Int, _ call: TapeCall) -> String {
        let counts = "\(call.count("expect"))/\(call.count("send", "respond"))"
        let words = [String(number), call.started, call.name, call.end, counts, call.took]
        return ShownText.escaped((words + (call.lack.map { ["incomplete: \($0)"] } ?? [])).joined(separator: "  "))
    }

    // MARK: merge

    /// Writes the documents of all files by the times at which their calls began; only their places are kept.
    private func merge() -> Exit {
        var places: [(started: String, file: FilePieces, offset: Int, count: Int)] = []
        for path in paths {
            let exit = each(path) { document, call, file in
                places.append((call.started, file, document.offset, document.bytes.count))
            }
            guard exit == .success else { return exit }
        }
        for place in places.sorted(by: { $0.started < $1.started }) {
            do throws(SystemError) {
                var bytes = try place.file.bytes(at: place.offset, count: place.count)
                // The first document of a file may do without its line.
                if !bytes.starts(with: "---".utf8) { bytes = Array("---\n".utf8) + bytes }
                if bytes.last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
                Terminal.write(bytes)
            } catch {
                Terminal.complain("martlet: cannot read a tape again: \(error.text)")
                return .failure
            }
        }
        return Terminal.outputError == nil ? .success : .failure
    }
}

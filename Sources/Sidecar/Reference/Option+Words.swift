internal import Configuration

extension Option.Shape {
    /// The shape in the words of the reference page; `anchor` is where the table of its mappings stands, if it has some.
    func words(_ anchor: String) -> String {
        switch self {
        case .anything: "anything"
        case .value(let kind): kind.words(anchor)
        case .chain: "list of [interceptors](#interceptors)"
        case .named(.chain): "mapping of names to lists of [interceptors](#interceptors)"
        case .named(let shape): "mapping of names to: \(shape.words(anchor))"
        case .either(let shapes): shapes.map { $0.words(anchor) }.joined(separator: ", or ")
        }
    }

    /// The table of the mappings in the shape; none if it has no such mappings.
    var table: [Option]? {
        switch self {
        case .value(.section(let options, _)), .value(.sections(let options, _)), .value(.named(let options, _)):
            options
        case .named(let shape): shape.table
        case .either(let shapes): shapes.lazy.compactMap(\.table).first
        case .anything, .value, .chain: nil
        }
    }
}

extension Option.Kind {
    fileprivate func words(_ anchor: String) -> String {
        switch self {
        case .string: "string"
        case .bool: "`true` or `false`"
        case .duration: "duration"
        case .timeout: "duration, not zero"
        case .size(let range): Self.size(in: range)
        case .sizeLimit(let range): "\(Self.size(in: range)), or `none`"
        case .integer(let range): Self.number(in: range)
        case .integerOrAuto(let range): "\(Self.number(in: range)), or `auto`"
        case .choice(let words): words.map { "`\($0)`" }.joined(separator: ", ")
        case .choices(let words): words.map { "`\($0)`" }.joined(separator: ", ") + " or a list of them"
        case .strings: "string, or a list of them"
        case .integers(let range): "\(Self.number(in: range)), or a list of them"
        case .map: "mapping of names to strings"
        case .section(_, let shorthand): "[mapping](#\(anchor))\(Self.alternative(shorthand))"
        case .sections(_, let shorthand): "list of [mappings](#\(anchor))\(Self.alternative(shorthand))"
        case .named(_, let shorthand): "mapping of names to [mappings](#\(anchor))\(Self.alternative(shorthand))"
        case .node: "anything"
        }
    }

    private static func number(in range: ClosedRange<Int>) -> String {
        "number from \(range.lowerBound)" + (range.upperBound == .max ? "" : " to \(range.upperBound)")
    }

    private static func size(in range: ClosedRange<Int>) -> String {
        let last = range.upperBound == .max ? "" : " to \(ByteCount.text(range.upperBound))"
        return "size from \(ByteCount.text(range.lowerBound))\(last)"
    }

    private static func alternative(_ shorthand: String?) -> String {
        shorthand.map { ", or just the `\($0)`" } ?? ""
    }
}

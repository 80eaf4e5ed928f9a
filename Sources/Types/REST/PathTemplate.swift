internal import Bytes

/// The template of a path, as `/v1/{name=shelves/*/books/*}:move` (`google/api/http.proto`, "Path template syntax").
struct PathTemplate: Equatable {
    /// One segment of a path.
    enum Segment: Equatable, Hashable {
        case literal([UInt8])
        /// `*`: any one.
        case one
        /// `**`: all that are left, or none.
        case rest
    }

    /// A part of the path that is the value of a field.
    struct Variable: Equatable {
        /// The names on the way to the field.
        let field: [String]
        /// The segments; those of `**` are one.
        let segments: Range<Int>
    }

    private(set) var segments: [Segment] = []
    private(set) var variables: [Variable] = []
    /// What follows the last segment behind a colon.
    private(set) var customVerb: [UInt8]?
    /// The form in which the custom verb is compared.
    private(set) var normalVerb: [UInt8]?

    /// Reads a template; none if it is not valid.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        guard rest.popFirst() == UInt8(ascii: "/"), readSegments(&rest, isInVariable: false) else { return nil }
        if !rest.isEmpty {
            guard rest.removeFirst() == UInt8(ascii: ":"), !rest.isEmpty, rest.allSatisfy(Self.isLiteral) else {
                return nil
            }
            customVerb = Array(rest)
            normalVerb = URLPath.normal(part: rest.span)
        }
        // What follows all that is left could never be met.
        guard !segments.dropLast().contains(.rest) else { return nil }
    }

    /// Reads segments up to what none can have.
    private mutating func readSegments(_ rest: inout ArraySlice<UInt8>, isInVariable: Bool) -> Bool {
        repeat {
            guard readSegment(&rest, isInVariable: isInVariable) else { return false }
            guard rest.first == UInt8(ascii: "/") else { return true }
        } while rest.popFirst() != nil
        return true
    }

    private mutating func readSegment(_ rest: inout ArraySlice<UInt8>, isInVariable: Bool) -> Bool {
        if rest.first == UInt8(ascii: "{") { return !isInVariable && readVariable(&rest) }
        if rest.first == UInt8(ascii: "*") {
            rest.removeFirst()
            let isRest = rest.first == UInt8(ascii: "*")
            if isRest { rest.removeFirst() }
            segments.append(isRest ? .rest : .one)
            return true
        }
        let literal = rest.prefix(while: Self.isLiteral)
        rest = rest[literal.endIndex...]
        segments.append(.literal(Array(literal)))
        // A path may end with a slash, and be `/` alone.
        return !literal.isEmpty || !isInVariable && rest.first != UInt8(ascii: "/")
    }

    private mutating func readVariable(_ rest: inout ArraySlice<UInt8>) -> Bool {
        rest.removeFirst()
        let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "}") }
        rest = rest[name.endIndex...]
        let names = String(decoding: name, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: false)
        guard names.allSatisfy({ !$0.isEmpty }), let next = rest.popFirst() else { return false }
        let start = segments.count
        if next == UInt8(ascii: "=") {
            guard readSegments(&rest, isInVariable: true), rest.popFirst() == UInt8(ascii: "}") else { return false }
        } else {
            segments.append(.one)
        }
        variables.append(Variable(field: names.map(String.init), segments: start..<segments.count))
        return true
    }

    /// What a path can have in a segment, but for what means something in a template.
    private static func isLiteral(_ byte: UInt8) -> Bool {
        0x21...0x7e ~= byte && !"/{}*:?#=".utf8.contains(byte)
    }
}

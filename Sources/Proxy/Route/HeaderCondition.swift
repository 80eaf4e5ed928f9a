internal import Bytes
public import Configuration
public import HTTP
internal import Patterns

/// What is asked of one field of a head.
public struct HeaderCondition: Sendable {
    private enum Test: Sendable { case present, absent, exact([[UInt8]]), pattern(Pattern) }

    /// The name of the field.
    let name: FieldName
    private let test: Test

    /// Compiles what a file asks; a pattern that is malformed is reported.
    public init?(_ matcher: HeaderMatcher, into diagnostics: Diagnostics) {
        name = FieldName(matcher.name)
        switch matcher.test {
        case .present: test = .present
        case .absent: test = .absent
        case .exact(let values): test = .exact(values.map { Array($0.utf8) })
        case .regex(let text):
            do throws(PatternError) {
                test = .pattern(try Pattern(text.text))
            } catch {
                diagnostics.report("\(error)", at: text.mark)
                return nil
            }
        }
    }

    /// Whether some field of the name is as it should be.
    public func holds(for head: HTTPHead) -> Bool {
        switch test {
        case .present: head.first(name) != nil
        case .absent: head.first(name) == nil
        case .exact(let values): anyValue(in: head) { value in values.contains { value.equals($0) } }
        case .pattern(let pattern): anyValue(in: head) { pattern.matches($0) }
        }
    }

    private func anyValue(in head: HTTPHead, _ test: (Span<UInt8>) -> Bool) -> Bool {
        var index = head.first(name)
        while let found = index {
            if test(head.value(at: found)) { return true }
            index = head.first(name, from: found + 1)
        }
        return false
    }
}

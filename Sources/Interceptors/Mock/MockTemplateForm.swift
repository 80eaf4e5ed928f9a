internal import Configuration

/// The forms of URI templates (RFC 6570) that `template` of a rule does not have.
enum MockTemplateForm {
    /// Returns the error of the first expression that is more than a name, or `nil` if all are names.
    static func problem(of template: String) -> String? {
        var rest = template[...]
        while let start = rest.firstIndex(of: "{") {
            let inner = rest[rest.index(after: start)...]
            guard let end = inner.firstIndex(of: "}") else { return nil }
            if let advice = advice(for: inner[..<end], after: template[..<start]) {
                let form = Diagnostic.quote("{\(inner[..<end])}")
                return "\"template\" has \(form), a form of RFC 6570 that it does not support; \(advice)"
            }
            rest = inner[inner.index(after: end)...]
        }
        return nil
    }

    private static func advice(for expression: Substring, after before: Substring) -> String? {
        let names = expression.drop { "+#./;?&=,!@|".contains($0) }
        let list = names.split(separator: ",").map { $0.prefix { $0 != ":" && $0 != "*" } }
        let first = list.first { !$0.isEmpty } ?? "id"
        switch expression.first {
        case "+"?: return "write {\(first)} for one segment, or \"path: \(before)\" for all paths below it"
        case "#"?: return "remove it, since callers do not send fragments"
        case "?"?, "&"?: return "write \"query: { \(first): present }\" beside \"template\""
        case "/"?: return "write \(list.isEmpty ? "/{id}" : list.map { "/{\($0)}" }.joined())"
        case "."?, ";"?, "="?, ","?, "!"?, "@"?, "|"?:
            return "write {\(first)} for a whole segment, or a \"url\" with a \"regex\""
        default: break
        }
        if expression.contains(",") {
            return "write a segment for each name, as in \(list.map { "/{\($0)}" }.joined())"
        }
        guard expression.contains(":") || expression.contains("*") else { return nil }
        return "write {\(first)} for a whole segment, or a \"url\" with a \"regex\""
    }
}

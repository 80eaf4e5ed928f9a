/// Patterns in which `*` stands for any text.
public enum Glob {
    /// Whether a name is like the pattern.
    public static func matches(_ name: Substring, _ pattern: Substring) -> Bool {
        let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return name == pattern }
        guard name.hasPrefix(first), name.count >= first.count + last.count, name.hasSuffix(last) else { return false }
        var rest = name.dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}

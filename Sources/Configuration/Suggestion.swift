/// Guesses which known word was meant by one that is not known.
public enum Suggestion {
    /// The end of an error message about an unknown `word`: `did you mean "headers"?`, or else the known words.
    public static func text(for word: String, among known: [String]) -> String {
        if let nearest = nearest(to: word, among: known) { return "did you mean \(Diagnostic.quote(nearest))?" }
        if known.isEmpty { return "none is defined" }
        let listed = known.prefix(16).joined(separator: ", ")
        return known.count > 16
            ? "expected one of: \(listed), … (\(known.count - 16) more)" : "expected one of: \(listed)"
    }

    /// The known word that the fewest typing errors turn into `word`, or else a longer or shorter form of it.
    public static func nearest(to word: String, among known: [String]) -> String? {
        let typed = Array(word.lowercased().utf8)
        guard typed.count <= 64 else { return nil }
        let bound = typed.count <= 4 ? 1 : typed.count <= 8 ? 2 : 3
        let near = known.filter { abs($0.utf8.count - typed.count) <= bound }
            .map { (word: $0, distance: distance(typed, Array($0.lowercased().utf8))) }
            .filter { $0.distance <= bound && $0.distance < $0.word.utf8.count }
            .min { $0.distance < $1.distance }
        return near?.word ?? known.first { isForm(typed, of: Array($0.lowercased().utf8)) }
    }

    private static func isForm(_ typed: [UInt8], of word: [UInt8]) -> Bool {
        min(typed.count, word.count) >= 3 && (typed.starts(with: word) || word.starts(with: typed))
    }

    /// How many letters must be added, left out, replaced or swapped with their neighbour (optimal string alignment).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(replaced, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}

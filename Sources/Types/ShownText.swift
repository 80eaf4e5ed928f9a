internal import Bytes

/// Foreign text as it stands in an error: one line of what can be seen, and not much of it.
extension String {
    var shown: String { shown(64) }

    /// At most so many characters of it.
    func shown(_ limit: Int) -> String {
        var result = ""
        for (index, scalar) in unicodeScalars.enumerated() {
            guard index < limit else { return result + "…" }
            result += scalar.isVisible ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
        return result
    }
}

extension Span<UInt8> {
    var shown: String {
        // A character has four bytes at most.
        extracting(first: 4 * 65).string.shown
    }
}

extension Text {
    var shown: String {
        let bytes = bytes
        return bytes.shown
    }
}

extension Unicode.Scalar {
    /// Whether a reader sees it as it is, and no terminal obeys it.
    package var isVisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

internal import Bytes

extension Span<UInt8> {
    /// Does `body` for each item of a comma-separated list (RFC 9110 §5.6.1), without the space around it.
    func forEachListItem(_ body: (Span<UInt8>) -> Void) {
        var start = 0
        while start <= count {
            let end = firstIndex(of: UInt8(ascii: ","), from: start) ?? count
            body(extracting(start..<end).trimmed)
            start = end + 1
        }
    }

    /// Whether `token`, in small letters, is an item of the list; parameters behind a `;` do not count.
    func hasToken(_ token: StaticString) -> Bool {
        var found = false
        forEachListItem { item in
            let end = item.firstIndex(of: UInt8(ascii: ";")) ?? item.count
            if item.extracting(0..<end).trimmed.equalsIgnoringCase(token) { found = true }
        }
        return found
    }
}

internal import Bytes
internal import HTTP

/// Fields that are meant for caches in front of the server have a stricter form than `cache-control` (RFC 9213 §2.1): one
/// that does not have it is ignored as a whole.
extension CacheControl {
    /// Whether all fields of the name are dictionaries of structured values (RFC 9651 §3.2), and times are integers.
    static func areStructured(_ name: FieldName, in head: HTTPHead) -> Bool {
        var index = head.first(name)
        while let found = index {
            guard isStructured(head.value(at: found)) else { return false }
            index = head.first(name, from: found + 1)
        }
        return true
    }

    private static func isStructured(_ value: Span<UInt8>) -> Bool {
        var list = ListReader()
        while let element = list.next(value) {
            let member = value.extracting(element)
            let end = member.firstIndex(of: UInt8(ascii: "=")) ?? member.count
            let key = member.extracting(0..<end)
            guard isKey(key) else { return false }
            guard end < member.count else { continue }
            let whole = member.extracting(end + 1..<member.count)
            let parameters = isTime(key) ? whole.firstIndex(of: UInt8(ascii: ";")) : nil
            let item = whole.extracting(0..<(parameters ?? whole.count))
            guard isTime(key) ? isInteger(item) : isItem(item) else { return false }
        }
        return true
    }

    private static func isKey(_ text: Span<UInt8>) -> Bool {
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "*"): break
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                guard index > 0 else { return false }
            default: return false
            }
        }
        return !text.isEmpty
    }

    private static func isTime(_ key: Span<UInt8>) -> Bool {
        key.equals("max-age") || key.equals("s-maxage") || key.equals("stale-if-error")
            || key.equals("stale-while-revalidate")
    }

    private static func isInteger(_ text: Span<UInt8>) -> Bool {
        guard 1...15 ~= text.count else { return false }
        for index in text.indices where !(0x30...0x39 ~= text[index]) { return false }
        return true
    }

    /// Whether it can be an item: a string, a number, a token, a boolean or bytes, with parameters or without.
    private static func isItem(_ text: Span<UInt8>) -> Bool {
        guard let first = text.isEmpty ? nil : text[0] else { return false }
        for index in text.indices where !(0x20...0x7e ~= text[index]) { return false }
        switch first {
        case UInt8(ascii: "\""): return text.count > 1
        case UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "("), UInt8(ascii: "*"), UInt8(ascii: "-"): return true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): return true
        case UInt8(ascii: "a")...UInt8(ascii: "z"): return true
        default: return false
        }
    }
}

/// Values that are masked wherever a text repeats them, whatever they look like.
public struct KnownSecrets: Sendable {
    /// The length of the shortest value that is masked where it is a word of its own.
    public static let minWord = 3

    private var parts: Set<[UInt8]> = []
    private var words: Set<[UInt8]> = []

    /// Creates a set of these values.
    public init(_ values: [[UInt8]] = []) {
        formUnion(values)
    }

    /// Adds values; shorter ones than `MaskedText.minSecret` are left out, because they are often ordinary words.
    public mutating func formUnion(_ values: some Sequence<[UInt8]>) {
        for value in values where value.count >= MaskedText.minSecret { parts.insert(value) }
    }

    /// Adds a value that the configuration names, so that one of at least `minWord` bytes counts, too.
    public mutating func insert(named value: [UInt8]) {
        if value.count >= MaskedText.minSecret {
            parts.insert(value)
        } else if value.count >= Self.minWord {
            words.insert(value)
        }
    }

    /// Adds the values of another set.
    public mutating func formUnion(_ other: KnownSecrets) {
        parts.formUnion(other.parts)
        words.formUnion(other.words)
    }

    /// The places of the values in a text.
    func ranges(in text: [UInt8]) -> [Range<Int>] {
        parts.flatMap { Self.places(of: $0, in: text) }
            + words.flatMap { Self.places(of: $0, in: text).filter { Self.isWord($0, in: text) } }
    }

    private static func places(of value: [UInt8], in text: [UInt8]) -> [Range<Int>] {
        var (places, start) = ([Range<Int>](), 0)
        while let range = text.firstRange(of: value, from: start) {
            places.append(range)
            start = range.upperBound
        }
        return places
    }

    private static func isWord(_ range: Range<Int>, in text: [UInt8]) -> Bool {
        let before = range.lowerBound > 0 ? text[range.lowerBound - 1] : 0x20
        let after = range.upperBound < text.count ? text[range.upperBound] : 0x20
        return !before.isWordByte && !after.isWordByte
    }
}

extension UInt8 {
    /// Whether the byte is a letter, a digit, or part of a character that is not ASCII.
    fileprivate var isWordByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...: true
        default: false
        }
    }
}

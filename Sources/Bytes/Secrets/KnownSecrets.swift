/// Values that are masked wherever a text repeats them.
///
/// Callers choose most of them, and each is looked for in the whole text, so their number and length are limited.
public struct KnownSecrets: Sendable {
    /// The length of the shortest value that is masked where it is a word of its own.
    public static let minWord = 3
    /// The maximum number of values, besides those of the configuration.
    public static let maxCount = 256
    /// The maximum length of these values together.
    public static let maxBytes = 16 * 1024

    /// The values of the configuration.
    private var configured: Set<[UInt8]> = []
    private var parts: Set<[UInt8]> = []
    private var words: Set<[UInt8]> = []
    private var bytes = 0
    /// Whether the set has all values that were added to it.
    public private(set) var isComplete = true

    /// Creates a set of these values.
    public init(_ values: [[UInt8]] = []) {
        formUnion(values)
    }

    /// Creates a set of values of the configuration, which may be any number.
    public init(configured values: [[UInt8]]) {
        configured = Set(values.filter { $0.count >= MaskedText.minSecret })
    }

    /// Adds values of at least `MaskedText.minSecret` bytes; shorter ones are often ordinary words.
    public mutating func formUnion(_ values: some Sequence<[UInt8]>) {
        for value in values where value.count >= MaskedText.minSecret { insert(value, to: \.parts) }
    }

    /// Adds a value in a place that the configuration names, for which `minWord` bytes are enough.
    public mutating func insert(named value: [UInt8]) {
        guard value.count >= Self.minWord else { return }
        insert(value, to: value.count >= MaskedText.minSecret ? \.parts : \.words)
    }

    /// Adds the values of another set.
    public mutating func formUnion(_ other: KnownSecrets) {
        configured.formUnion(other.configured)
        for value in other.parts { insert(value, to: \.parts) }
        for value in other.words { insert(value, to: \.words) }
        if !other.isComplete { isComplete = false }
    }

    /// Adds a value if there is room for it.
    private mutating func insert(_ value: [UInt8], to set: WritableKeyPath<KnownSecrets, Set<[UInt8]>>) {
        guard isComplete, !configured.contains(value), !self[keyPath: set].contains(value) else { return }
        guard parts.count + words.count < Self.maxCount, bytes + value.count <= Self.maxBytes else {
            isComplete = false
            return
        }
        self[keyPath: set].insert(value)
        bytes += value.count
    }

    /// Returns the ranges of the values in a text.
    func ranges(in text: [UInt8]) -> [Range<Int>] {
        configured.flatMap { Self.places(of: $0, in: text) } + parts.flatMap { Self.places(of: $0, in: text) }
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

extension Span<UInt8> {
    /// Whether the bytes are exactly the UTF-8 of `text`.
    @inlinable
    public func equals(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasPrefix(text)
    }

    /// Whether the bytes are exactly `other`.
    @inlinable
    public func equals(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe other.withUnsafeBufferPointer { unsafe matches($0.baseAddress, $0.count) }
    }

    /// Whether the bytes are exactly `other`.
    @inlinable
    public func equals(_ other: [UInt8]) -> Bool {
        equals(other.span)
    }

    /// Whether the bytes begin with the UTF-8 of `text`.
    @inlinable
    public func hasPrefix(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        return unsafe matches(text.utf8Start, text.utf8CodeUnitCount)
    }

    /// Whether the first `length` bytes, which there must be, are those at `other`: whole words, the last of which may
    /// overlap the one before.
    @usableFromInline
    func matches(_ other: UnsafePointer<UInt8>?, _ length: Int) -> Bool {
        guard length > 0 else { return true }
        return unsafe withUnsafeBytes { bytes in
            let ours = bytes.baseAddress!
            let theirs = unsafe UnsafeRawPointer(other!)
            if length >= 8 {
                var index = 0
                while index + 8 < length {
                    guard unsafe Self.word(ours, index) == Self.word(theirs, index) as UInt64 else { return false }
                    index += 8
                }
                return unsafe Self.word(ours, length - 8) == Self.word(theirs, length - 8) as UInt64
            }
            if length >= 4 {
                return unsafe Self.word(ours, 0) == Self.word(theirs, 0) as UInt32
                    && Self.word(ours, length - 4) == Self.word(theirs, length - 4) as UInt32
            }
            for index in 0..<length {
                guard unsafe Self.word(ours, index) == Self.word(theirs, index) as UInt8 else { return false }
            }
            return true
        }
    }

    @inline(__always)
    private static func word<Word: BitwiseCopyable>(_ bytes: UnsafeRawPointer, _ offset: Int) -> Word {
        unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Word.self)
    }

    /// Whether the bytes begin with `other`.
    @inlinable
    public func hasPrefix(_ other: [UInt8]) -> Bool {
        count >= other.count && extracting(0..<other.count).equals(other.span)
    }

    /// Whether the bytes end with `other`.
    @inlinable
    public func hasSuffix(_ other: [UInt8]) -> Bool {
        count >= other.count && extracting(count - other.count..<count).equals(other.span)
    }

    /// Whether the bytes are `text`, whose letters are small, whatever the case of their ASCII letters.
    @inlinable
    public func equalsIgnoringCase(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        // As nearly everybody writes it.
        if hasPrefix(text) { return true }
        let expected = unsafe text.utf8Start
        for index in 0..<count where unsafe self[unchecked: index].lowercasedASCII != expected[index] { return false }
        return true
    }

    /// The bytes without spaces and tabs at both ends (OWS of RFC 9110 §5.6.3).
    public var trimmed: Span<UInt8> {
        @_lifetime(copy self)
        get {
            var start = 0
            var end = count
            while start < end, self[start].isSpaceOrTab { start += 1 }
            while end > start, self[end - 1].isSpaceOrTab { end -= 1 }
            return extracting(start..<end)
        }
    }

    /// The bytes without white space at both ends: spaces, tabs, and breaks of lines and pages.
    public var trimmedOfWhiteSpace: Span<UInt8> {
        @_lifetime(copy self)
        get {
            let isSpace = { (byte: UInt8) in byte == 0x20 || 0x09...0x0d ~= byte }
            var start = 0
            var end = count
            while start < end, isSpace(self[start]) { start += 1 }
            while end > start, isSpace(self[end - 1]) { end -= 1 }
            return extracting(start..<end)
        }
    }

    /// The value of the bytes as decimal digits and nothing else; none for no digits, or too many for an `Int`.
    public var decimal: Int? {
        guard count > 0 else { return nil }
        var value = 0
        for index in 0..<count {
            let digit = self[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int(digit))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    /// A copy of the bytes; allocates, so not for the path of a call.
    public var array: [UInt8] {
        unsafe withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// The bytes as text, with what is not UTF-8 repaired; allocates, so not for the path of a call.
    public var string: String {
        unsafe withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The FNV-1a hash of the bytes.
    @inlinable
    public var fnv1a: UInt64 {
        var hash = FNV1a()
        for index in 0..<count { hash.add(unsafe self[unchecked: index]) }
        return hash.value
    }
}

/// The FNV-1a hash of bytes that are added one by one.
public struct FNV1a {
    /// The hash of what has been added.
    public var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Makes the hash of no bytes.
    @inlinable
    public init() {}

    /// Adds a byte behind the others.
    @inlinable
    public mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}

extension UInt8 {
    /// The byte, made small if it is an ASCII capital.
    @inlinable
    public var lowercasedASCII: UInt8 {
        self &- UInt8(ascii: "A") < 26 ? self | 0x20 : self
    }

    /// Whether the byte is a space or a horizontal tab.
    @inlinable
    public var isSpaceOrTab: Bool {
        self == 0x20 || self == 0x09
    }
}

extension [UInt8] {
    /// Appends a copy of `bytes`.
    public mutating func append(copy bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}

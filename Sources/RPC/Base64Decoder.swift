/// Reads base64 one character at a time, in either alphabet.
///
/// A padded group may be followed by more groups, since a gRPC-Web text body is a run of separately encoded pieces.
public struct Base64Decoder: Sendable {
    /// Whether everything read so far was base64.
    public private(set) var isValid = true
    /// Whether the last group read was filled up with padding.
    private(set) var isAfterPadding = false
    /// The bits read and not given out.
    private var bits: UInt32 = 0
    /// How many characters of the group of four were read.
    private var position = 0
    private var isInPadding = false

    /// Makes a decoder that has read nothing.
    public init() {}

    /// Whether the text may end here.
    public var canEnd: Bool {
        isValid && (position == 0 || (!isInPadding && position != 1))
    }

    /// Reads one character.
    ///
    /// - Returns: the byte it completes, if it does.
    public mutating func next(_ character: UInt8) -> UInt8? {
        guard isValid else { return nil }
        guard character != UInt8(ascii: "=") else {
            pad()
            return nil
        }
        guard !isInPadding, let value = Self.value(of: character) else {
            isValid = false
            return nil
        }
        isAfterPadding = false
        bits = bits << 6 | value
        let completed: UInt8? =
            switch position {
            case 1: UInt8(truncatingIfNeeded: bits >> 4)
            case 2: UInt8(truncatingIfNeeded: bits >> 2)
            case 3: UInt8(truncatingIfNeeded: bits)
            default: nil
            }
        position = (position + 1) & 3
        return completed
    }

    private mutating func pad() {
        guard position >= 2 else {
            isValid = false
            return
        }
        position = (position + 1) & 3
        isInPadding = position != 0
        isAfterPadding = position == 0
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

/// The character classes of HTTP/1.1 (RFC 9110 §5.6, RFC 9112).
enum HTTP1Grammar {
    /// Whether `byte` is a `tchar`, one of those that names of fields and methods are made of.
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        // What nearly all names are made of comes first.
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "-")
            || isIn(byte, low: 0x03ff_6cfa_0000_0000, high: 0x57ff_ffff_c7ff_fffe)
    }

    /// Whether `byte` can be in a request target: visible ASCII without `"`, `#`, `<`, `>` and `\`.
    @inline(__always)
    static func isTarget(_ byte: UInt8) -> Bool {
        isIn(byte, low: 0xafff_fff2_0000_0000, high: 0x7fff_ffff_efff_ffff)
    }

    /// Whether `byte` can be in a query: visible ASCII without `#`.
    static func isQuery(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "#") }

    /// Whether `byte` can be in a host with its port (RFC 3986 §3.2.2), brackets of an IPv6 address included.
    @inline(__always)
    static func isHost(_ byte: UInt8) -> Bool {
        isIn(byte, low: 0x2fff_6ff2_0000_0000, high: 0x47ff_fffe_afff_fffe)
    }

    /// Whether `byte` is a letter, a digit, a dot or a hyphen.
    @inline(__always)
    static func isName(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || isIn(byte, low: 0x03ff_6000_0000_0000, high: 0)
    }

    /// Whether `byte` can be in a field value: a tab, or anything but a control byte; bytes from 0x80 are opaque.
    @inline(__always)
    static func isValue(_ byte: UInt8) -> Bool {
        byte >= 0x20 ? byte != 0x7f : byte == 0x09
    }

    /// Why `byte`, which cannot be in a value, is rejected.
    static func error(of byte: UInt8) -> HTTPError {
        switch byte {
        case 0: .nullByte
        case 0x0d: .bareCarriageReturn
        default: .fieldValue
        }
    }

    /// Membership in a set of ASCII bytes kept as two words of bits.
    @inline(__always)
    private static func isIn(_ byte: UInt8, low: UInt64, high: UInt64) -> Bool {
        guard byte < 0x80 else { return false }
        return (byte < 0x40 ? low : high) &>> UInt64(byte & 0x3f) & 1 == 1
    }
}

/// `application/x-www-form-urlencoded` (WHATWG URL §5).
public enum FormEncoding {
    /// A list of names and values.
    static func encode(_ pairs: [(name: String, value: [UInt8])]) -> [UInt8] {
        Array(
            pairs.map { encode(Array($0.name.utf8)) + [UInt8(ascii: "=")] + encode($0.value) }.joined(separator: [0x26])
        )
    }

    /// One name or value.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                [byte]
            case UInt8(ascii: " "): [UInt8(ascii: "+")]
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

internal import Proxy

/// One word of a command for `sh`, which gets it byte for byte (POSIX, Shell Command Language §2.2).
struct ShellWord {
    private(set) var text: [UInt8] = []
    /// The variables that stand for what is not shown, in order.
    private(set) var variables: [String] = []

    init() {}

    /// A text as one word.
    init(_ text: String) { append(Array(text.utf8)) }

    /// A text as one word.
    init(_ text: [UInt8]) { append(text) }

    /// Adds bytes, none of which is NUL.
    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty || !text.isEmpty else {
            text = Array("''".utf8)
            return
        }
        guard !bytes.allSatisfy(Self.isPlain) else {
            text += bytes
            return
        }
        text.append(UInt8(ascii: "'"))
        for byte in bytes {
            if byte == UInt8(ascii: "'") { text += Array(#"'\''"#.utf8) } else { text.append(byte) }
        }
        text.append(UInt8(ascii: "'"))
    }

    /// Adds a text of our own.
    mutating func append(_ text: String) { append(Array(text.utf8)) }

    /// Adds the value of a variable that the user sets.
    mutating func append(secret name: String) {
        let variable = Self.variable(name)
        variables.append(variable)
        text += Array("\"${\(variable)}\"".utf8)
    }

    /// The variable for a header or a parameter that is not shown: `MARTLET_X_API_KEY`.
    private static func variable(_ name: String) -> String {
        let letters = name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
        return "MARTLET_" + String(letters)
    }

    /// Whether the shell sees nothing in a byte.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "-_./:=,@%+".utf8.contains(byte)
        }
    }
}

internal import Bytes
internal import RPC

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

    /// Adds bytes, none of which is NUL, and the last of which is no line feed if there are control characters.
    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty || !text.isEmpty else {
            text = Array("''".utf8)
            return
        }
        guard !bytes.allSatisfy(Self.isPlain) else {
            text += bytes
            return
        }
        // What a terminal would not take as it is.
        guard bytes.isShellText else { return appendEncoded(bytes) }
        text.append(UInt8(ascii: "'"))
        for byte in bytes {
            if byte == UInt8(ascii: "'") { text += Array(#"'\''"#.utf8) } else { text.append(byte) }
        }
        text.append(UInt8(ascii: "'"))
    }

    private mutating func appendEncoded(_ bytes: [UInt8]) {
        let queue = ByteQueue()
        queue.append(base64: bytes.span, padded: true)
        text += Array("\"$(printf %s ".utf8) + queue.readable.array + Array(" | base64 -d)\"".utf8)
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

extension [UInt8] {
    /// Whether bytes can be pasted into a terminal: UTF-8 without control characters but for line feeds, and nothing that
    /// changes the direction of what is shown.
    var isShellText: Bool {
        guard (try? UTF8Span(validating: span)) != nil else { return false }
        return String(decoding: self, as: UTF8.self).unicodeScalars.allSatisfy { scalar in
            scalar == "\n"
                || !scalar.properties.isBidiControl && scalar.properties.generalCategory != .control
                    && scalar.properties.generalCategory != .format
        }
    }
}

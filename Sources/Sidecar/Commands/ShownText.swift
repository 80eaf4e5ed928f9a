/// Text of callers and files, as a terminal may get it.
enum ShownText {
    /// A line without characters that a terminal takes for commands.
    static func escaped(_ line: String) -> String { String(decoding: escaped(Array(line.utf8)), as: UTF8.self) }

    /// Lines for a shell, as they are if a daemon has quoted what a terminal takes for commands, or escaped.
    static func command(_ lines: String) -> String { Array(lines.utf8).isShellText ? lines : escaped(lines) }

    /// Text without characters that a terminal takes for commands.
    static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var text = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            case 0x0a, 0x09: text.unicodeScalars.append(scalar)
            case 0..<0x20, 0x7f..<0xa0: text += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            // They turn the direction of what follows.
            case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069:
                text += "\\u" + String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return Array(text.utf8)
    }
}

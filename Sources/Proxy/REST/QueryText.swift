internal import Bytes
internal import RPC

extension Span<UInt8> {
    /// The text that a part of a query stands for (URL Standard §5.1).
    ///
    /// - Parameter subject: what the part is, for the error.
    /// - Returns: the text.
    /// - Throws: an error for an escape that is none, and for what is not UTF-8.
    func formText(of subject: String) throws(RPCError) -> String {
        let plain = array.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return try plain.span.unescapedText(of: subject, keepsSlash: false)
    }

    /// The text that escapes stand for; a slash may stay one, so that it does not part what it is within.
    func unescapedText(of subject: String, keepsSlash: Bool) throws(RPCError) -> String {
        var bytes: [UInt8] = []
        var index = 0
        while index < count {
            guard self[index] == UInt8(ascii: "%") else {
                bytes.append(self[index])
                index += 1
                continue
            }
            guard let byte = escapedByte(at: index) else {
                throw RPCError(.invalidArgument, "\(subject) has an invalid escape")
            }
            let isKept = keepsSlash && byte == UInt8(ascii: "/")
            bytes += isKept ? extracting(index..<index + 3).array : [byte]
            index += 3
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RPCError(.invalidArgument, "\(subject) is not valid UTF-8")
        }
        return text
    }
}

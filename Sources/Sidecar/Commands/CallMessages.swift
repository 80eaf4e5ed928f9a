internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import Proxy
internal import Types

/// The messages of a call, as the command line has them.
enum CallMessages {
    /// Where messages are: on the command line, in a file, or on standard input.
    enum Source {
        case text(String)
        case file(String)
        case input

        /// Reads it as `curl` does: `@` stands before the path of a file, and `-` or `@-` is standard input.
        init(_ text: String) {
            if text == "-" || text == "@-" {
                self = .input
            } else if text.hasPrefix("@") {
                self = .file(String(text.dropFirst()))
            } else {
                self = .text(text)
            }
        }
    }

    /// The most bytes of a source.
    private static let limit = 64 << 20

    /// The messages as JSON: a source has one, or one on each line.
    ///
    /// - Parameters:
    ///   - sources: where they are.
    ///   - isStream: whether the method has a stream of messages, if that is known.
    /// - Returns: without any source the empty message, or none for a stream.
    /// - Throws: what cannot be read, or is not JSON.
    static func read(_ sources: [Source], isStream: Bool?) throws(CallError) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        for source in sources { messages += try read(try text(of: source)) }
        return messages.isEmpty && isStream != true ? [Array("{}".utf8)] : messages
    }

    private static func text(of source: Source) throws(CallError) -> [UInt8] {
        switch source {
        case .text(let text): return Array(text.utf8)
        case .file(let path):
            switch SmallFile.read(path, limit: limit) {
            case .success(let bytes): return bytes
            case .failure(let error): throw CallError("cannot read \(path): \(error.text)")
            }
        case .input:
            guard let bytes = Terminal.read(limit: limit) else {
                throw CallError("the messages on standard input exceed \(ByteCount.text(limit))")
            }
            return bytes
        }
    }

    private static func read(_ text: [UInt8]) throws(CallError) -> [[UInt8]] {
        let lines = text.split(separator: UInt8(ascii: "\n")).map(Array.init).filter { !isBlank($0) }
        if lines.isEmpty { return [] }
        // JSON of several lines may be one message.
        if lines.count == 1 || (try? JSON.parse(text)) != nil {
            try check(text, "the message")
            return [text]
        }
        for (index, line) in lines.enumerated() { try check(line, "message \(index + 1)") }
        return lines
    }

    private static func isBlank(_ line: [UInt8]) -> Bool { line.allSatisfy { " \t\r".utf8.contains($0) } }

    private static func check(_ text: [UInt8], _ name: String) throws(CallError) {
        do throws(JSONError) {
            _ = try JSON.parse(text)
        } catch {
            throw CallError("\(name) is not valid JSON at column \(error.column): \(error.text)", .usage)
        }
    }

    /// The messages in Protobuf.
    ///
    /// - Throws: what its type does not have.
    static func encoded(
        _ messages: [[UInt8]],
        _ type: MessageType,
        _ types: KnownTypes
    ) throws(CallError) -> [[UInt8]] {
        var encoded: [[UInt8]] = []
        for message in messages {
            let output = ByteQueue()
            do throws(MessageError) {
                try MessageCodec().appendMessage(
                    ofJSON: message.span,
                    type,
                    types.set,
                    dropsUnknown: types.dropsUnknown,
                    limit: limit,
                    to: output
                )
            } catch {
                throw CallError("\(error)", .usage)
            }
            encoded.append(output.readable.array)
        }
        return encoded
    }
}

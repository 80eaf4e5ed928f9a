internal import Bytes
internal import Events

@testable internal import Types

/// Messages in JSON and in the wire format: what is read in one form means the same in the other.
enum Messages {
    private static let limit = 1 << 20
    private static let types: TypeSet = {
        guard case .success(let bytes) = SmallFile.read("Fuzz/Corpus/types/kinds", limit: 1 << 20),
            let types = try? TypeSet([DescriptorSet(source: "kinds", bytes: bytes)])
        else { fail("the types are in Fuzz/Corpus/types/kinds") }
        return types
    }()

    /// The first byte says the type, and whether what follows is JSON.
    static func run(_ input: Span<UInt8>) {
        guard input.count > 0 else { return }
        let type = types.messages[Int(input[0] >> 1) % types.messages.count]
        let bytes = input.extracting(1...)
        if input[0] & 1 == 0 {
            guard let text = json(of: bytes, type) else { return }
            checkAgain(text, type)
        } else {
            guard let message = wire(of: bytes, type), let text = json(of: message.span, type) else { return }
            checkAgain(text, type)
        }
    }

    /// What has been written is read, and then written in the same way.
    private static func checkAgain(_ text: [UInt8], _ type: MessageType) {
        guard let message = wire(of: text.span, type) else {
            fail("\(type.name) that was written is read: \(String(decoding: text, as: UTF8.self))")
        }
        guard let again = json(of: message.span, type) else { fail("\(type.name) is written again") }
        demandSame(
            String(decoding: again, as: UTF8.self),
            String(decoding: text, as: UTF8.self),
            "\(type.name) is written in the same way"
        )
    }

    private static func json(of message: Span<UInt8>, _ type: MessageType) -> [UInt8]? {
        let output = ByteQueue()
        do throws(MessageError) {
            try MessageCodec().appendJSON(of: message, type, types, limit: limit, to: output)
        } catch {
            demand(!error.description.isEmpty, "an error has words")
            return nil
        }
        return output.readable.array
    }

    private static func wire(of text: Span<UInt8>, _ type: MessageType) -> [UInt8]? {
        let output = ByteQueue()
        do throws(MessageError) {
            try MessageCodec().appendMessage(ofJSON: text, type, types, limit: limit, to: output)
        } catch {
            demand(!error.description.isEmpty, "an error has words")
            return nil
        }
        return output.readable.array
    }
}

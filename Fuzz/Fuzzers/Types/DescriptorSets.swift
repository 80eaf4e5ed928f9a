internal import Bytes

@testable internal import Types

/// Descriptor sets: whatever a set says, its types can be made use of.
enum DescriptorSets {
    private static let limit = 1 << 16
    private static let messages: [[UInt8]] = [
        [], [0x0a, 0], [0x08, 1, 0x12, 1, 0x61], [0x0a, 2, 0x0a, 0, 0x10, 0x7f],
    ]
    private static let texts = ["{}", "[]", "null", "\"1s\"", "{\"a\":1}", "{\"value\":[{}]}", "1e2"]

    static func run(_ input: Span<UInt8>) {
        let types: TypeSet
        do throws(TypeSetError) {
            types = try TypeSet([DescriptorSet(source: "input", bytes: input.array)])
        } catch {
            demand(!error.problems.isEmpty, "a set that is wrong has a problem")
            return demand(error.problems.allSatisfy { !$0.text.isEmpty }, "a problem has words")
        }
        for method in types.services.flatMap(\.methods) {
            demand(types.method(path: method.path.span) != nil, "a method is found by its path")
        }
        let codec = MessageCodec()
        for type in types.messages.prefix(8) { use(type, types, codec) }
    }

    private static func use(_ type: MessageType, _ types: TypeSet, _ codec: MessageCodec) {
        for message in messages {
            try? codec.appendJSON(of: message.span, type, types, limit: limit, to: ByteQueue())
        }
        for text in texts.map({ Array($0.utf8) }) {
            try? codec.appendMessage(ofJSON: text.span, type, types, limit: limit, to: ByteQueue())
        }
    }
}

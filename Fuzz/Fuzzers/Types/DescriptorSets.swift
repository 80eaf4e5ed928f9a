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
        check(types.services.map(\.name), of: types)
        let codec = MessageCodec()
        for type in types.messages.prefix(8) { use(type, types, codec) }
    }

    /// A path that a binding writes is one that its table finds.
    private static func check(_ services: [String], of types: TypeSet) {
        guard let table = try? RESTTable(types, services: services) else { return }
        for binding in table.bindings.prefix(32) {
            let path = ByteQueue()
            guard binding.appendPath(to: path, { _ in "a" }) else { continue }
            demand(table.mayMatch(path.readable), "a path is not passed over")
            let (method, written) = (binding.httpMethod, path.readable.array)
            if case .none = table.match(method.span, written.span) { demand(false, "a path leads to a method") }
            _ = table.match(written.span, method.span)
        }
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

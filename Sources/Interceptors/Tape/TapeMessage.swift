internal import Bytes
internal import Configuration
internal import Documents
internal import Proxy

/// A message of a request as it was recorded.
enum TapeMessage: Sendable {
    case json(JSONValue)
    case bytes([UInt8])
    /// It was too long, or was not to be shown.
    case unknown

    /// Reads a recorded message.
    init(_ section: Section) {
        if let node = section.node("json") {
            self = .json(Self.expected(node))
        } else if section.has("text") {
            self = .bytes(Array(section.string("text").utf8))
        } else if section.has("base64") {
            self = .bytes(section.base64("base64") ?? [])
        } else {
            self = .unknown
        }
    }

    /// The value of `{ "": { equals: VALUE } }`, as mocks write that a message is like this.
    private static func expected(_ node: Node) -> JSONValue {
        guard let members = node.entries, members.count == 1, members[0].key.isEmpty,
            let tests = members[0].value.entries, tests.count == 1, tests[0].key == "equals"
        else { return (try? JSON.parse(node.json)) ?? .null }
        return (try? JSON.parse(tests[0].value.json)) ?? .null
    }

    /// What is the same for messages that count as equal to this one; none if several may.
    func key(ignoring ignored: [JSONPointer]) -> Int? {
        switch self {
        case .unknown: nil
        case .bytes(let bytes) where bytes.hasMask: nil
        case .bytes(let bytes): TapeKey.bytes(bytes)
        case .json(let value) where value.hasMask: nil
        case .json(let value): TapeKey.value(value.removing(ignored))
        }
    }

    /// The place in which a message is not as it was recorded; none if it is.
    ///
    /// - Parameters:
    ///   - context: the call, and the message.
    ///   - ignored: places that do not count.
    /// - Returns: a JSON Pointer, which is empty for the whole.
    func difference(from context: MockContext, ignoring ignored: [JSONPointer]) -> String? {
        differences(from: context, ignoring: ignored).first
    }

    /// The places in which a message is not as it was recorded, the first ones; the empty one is the whole.
    func differences(from context: MockContext, ignoring ignored: [JSONPointer]) -> [String] {
        switch self {
        case .unknown: return [""]
        case .bytes(let bytes):
            if bytes == context.payload { return [] }
            return bytes.hasMask && bytes == context.call.maskedForm(context.payload) ? [] : [""]
        case .json(let recorded):
            guard let message = context.message else { return [""] }
            return Self.differences(between: recorded, and: message, ignoring: ignored)
        }
    }

    /// The places in which a value is not as recorded, the first ones; what was not to be shown counts as equal.
    static func differences(
        between recorded: JSONValue,
        and value: JSONValue,
        ignoring ignored: [JSONPointer] = [],
        limit: Int = 8
    ) -> [String] {
        var differences = JSONDifferences(limit: limit)
        differences.compare(recorded.removing(ignored), value.removing(ignored), at: "")
        return differences.places
    }
}

extension [UInt8] {
    /// Whether fields of a form were not to be shown.
    fileprivate var hasMask: Bool { String(decoding: self, as: UTF8.self).contains("\(Redactions.mask)") }
}

extension JSONValue {
    /// The value without what is in these places.
    func removing(_ pointers: [JSONPointer]) -> JSONValue {
        pointers.reduce(into: self) { $0.removeOfProtoJSON($1) }
    }

    /// Whether something in it was not to be shown.
    fileprivate var hasMask: Bool {
        switch self {
        case .string(let text): text.contains("\(Redactions.mask)")
        case .array(let items): items.contains(where: \.hasMask)
        case .object(let members): members.contains(where: \.value.hasMask)
        case .null, .bool, .integer, .number: false
        }
    }
}

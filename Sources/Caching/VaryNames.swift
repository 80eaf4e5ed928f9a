public import Bytes
public import HTTP

/// The names of the request fields that a response depends on, as its `vary` says (RFC 9110 §12.5.5).
///
/// A value: safe on any thread.
public struct VaryNames: Equatable, Sendable {
    /// How many names there may be; a response with more is not stored.
    static let limit = 16

    private let names: [FieldName]

    /// The names of a response, in the order of the alphabet.
    ///
    /// The response must not depend on everything.
    public init(_ head: HTTPHead) {
        names = Self.all(head).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// Whether there are none.
    public var isEmpty: Bool { names.isEmpty }

    /// How many bytes they take.
    var byteCount: Int { names.reduce(0) { $0 + $1.bytes.capacity + 64 } }

    private static let vary = FieldName("vary")

    /// Whether the response depends on more than fields, or on too many.
    static func isEverything(_ head: HTTPHead) -> Bool {
        let names = all(head)
        return names.count > limit || names.contains { $0.bytes == [UInt8(ascii: "*")] }
    }

    /// Returns the names of a head; of more than `limit` names, the first ones until the limit is exceeded.
    private static func all(_ head: HTTPHead) -> [FieldName] {
        var names: [FieldName] = []
        var field = head.first(vary)
        while let found = field {
            let value = head.value(at: found)
            var list = ListReader()
            while let range = list.next(value) {
                let name = FieldName(value.extracting(range).string)
                if !names.contains(name) { names.append(name) }
                // An upstream may send thousands, each of which would be compared with all.
                guard names.count <= limit else { return names }
            }
            field = head.first(vary, from: found + 1)
        }
        return names
    }

    /// Adds what a request has of these fields to the key of its response, in one form however it is written.
    public func append(of request: HTTPHead, to key: ByteQueue) {
        for name in names {
            // With the name: responses that vary by other fields have other keys.
            key.append(byte: 0)
            key.append(name.bytes)
            key.append(byte: 0)
            var index = request.first(name)
            if index == nil { key.append(byte: 1) }
            while let found = index {
                let value = request.value(at: found)
                var list = ListReader()
                while let range = list.next(value) {
                    key.append(byte: UInt8(ascii: ","))
                    key.append(value.extracting(range))
                }
                index = request.first(name, from: found + 1)
            }
        }
    }
}

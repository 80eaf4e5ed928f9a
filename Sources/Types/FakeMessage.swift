public import Bytes

/// Invents messages of a type: every field has a value of its kind, lists and maps have two items.
///
/// The same chance gives the same message. Belongs to one thread.
public struct FakeMessage {
    /// Messages in messages end here: a type may have fields of itself.
    private static let maxDepth = 4
    private static let items = 2

    /// How many fields may still have a value: types may be wide as well.
    private final class Budget {
        var left = 10_000
    }

    private let chance: () -> Double
    private let budget = Budget()

    /// Invents by `chance`, which returns numbers from 0 up to, and without, 1.
    public init(_ chance: @escaping () -> Double) { self.chance = chance }

    /// Appends a message of a type as ProtoJSON.
    public func append(_ type: MessageType, to queue: ByteQueue) {
        append(type, depth: 1, to: queue)
    }

    private func append(_ type: MessageType, depth: Int, to queue: ByteQueue) {
        switch type.form {
        case .fields: appendFields(type, depth, to: queue)
        case .any, .structure: queue.append("{}")
        case .list: queue.append("[]")
        case .value: queue.append(json: word("value"))
        case .fieldMask: queue.append(json: "field\(number(below: 1000)),otherField.name\(number(below: 1000))")
        case .duration: queue.append(json: "\(number(below: 3600))s")
        case .timestamp:
            let (year, month, day) = (2010 + number(below: 20), 1 + number(below: 9), 10 + number(below: 10))
            queue.append(json: "\(year)-0\(month)-\(day)T12:00:00Z")
        case .wrapper: if let field = type.fields.first { appendScalar(field, to: queue) }
        }
    }

    private func appendFields(_ type: MessageType, _ depth: Int, to queue: ByteQueue) {
        queue.append("{")
        var isFirst = true
        for (place, field) in type.fields.enumerated() {
            // Of a oneof the first field has a value.
            guard !type.fields[..<place].contains(where: { $0.isAlternative(to: field) }) else { continue }
            // A message without a required field is invalid; one that requires itself has no end, and no valid value.
            let isDue = field.isRequired && depth < MessageError.maxDepth
            guard isDue || budget.left > 0 && (!field.isMessage || depth < Self.maxDepth) else { continue }
            budget.left -= 1
            if !isFirst { queue.append(",") }
            isFirst = false
            queue.append(field.jsonStart)
            append(field, depth, to: queue)
        }
        queue.append("}")
    }

    private func append(_ field: FieldType, _ depth: Int, to queue: ByteQueue) {
        switch field.shape {
        case .single: appendItem(field, depth, to: queue)
        case .list:
            queue.append("[")
            for item in 0..<Self.items {
                if item > 0 { queue.append(",") }
                appendItem(field, depth, to: queue)
            }
            queue.append("]")
        case .map: appendMap(field.messageType, depth, to: queue)
        }
    }

    private func appendMap(_ entry: MessageType, _ depth: Int, to queue: ByteQueue) {
        let (key, value) = (entry.fields[0], entry.fields[1])
        queue.append("{")
        for item in 0..<Self.items {
            if item > 0 { queue.append(",") }
            switch key.kind {
            case .bool: queue.append(json: item == 0 ? "false" : "true")
            case .string: queue.append(json: "key\(item + 1)")
            default: queue.append(json: "\(item + 1)")
            }
            queue.append(":")
            appendItem(value, depth, to: queue)
        }
        queue.append("}")
    }

    private func appendItem(_ field: FieldType, _ depth: Int, to queue: ByteQueue) {
        if field.isMessage {
            append(field.messageType, depth: depth + 1, to: queue)
        } else {
            appendScalar(field, to: queue)
        }
    }

    private func appendScalar(_ field: FieldType, to queue: ByteQueue) {
        switch field.kind {
        case .bool: queue.append(chance() < 0.5 ? "true" : "false")
        case .string: queue.append(json: word(field.name))
        case .bytes: queue.append(json: "AQID")
        case .double, .float:
            queue.append(decimal: number(below: 1000))
            queue.append(".5")
        case .enumeration: appendValue(field, to: queue)
        default: queue.append(decimal: number(below: 100) + 1)
        }
    }

    /// Appends one of the values that the enumeration defines.
    private func appendValue(_ field: FieldType, to queue: ByteQueue) {
        guard !field.isNull else { return queue.append("null") }
        queue.append(json: field.valueName(at: number(below: field.valueCount)).string)
    }

    private func word(_ name: String) -> String { "\(name) \(number(below: 1000))" }

    private func number(below limit: Int) -> Int { Int(chance() * Double(limit)) }
}

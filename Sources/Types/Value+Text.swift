internal import Bytes

extension Value {
    /// Whether a key of a map comes before another.
    func comes(before other: Value, _ field: FieldType) -> Bool {
        switch field.kind {
        case .bool: return !bool && other.bool
        case .int32, .sint32, .sfixed32: return int32 < other.int32
        case .uint32, .fixed32: return uint32 < other.uint32
        case .int64, .sint64, .sfixed64: return int64 < other.int64
        case .uint64, .fixed64: return uint64 < other.uint64
        default:
            let (one, two) = (text, other.text)
            let (mine, others) = (one.bytes, two.bytes)
            for index in 0..<min(mine.count, others.count) where mine[index] != others[index] {
                return mine[index] < others[index]
            }
            return mine.count < others.count
        }
    }

    /// The text of a key of a map.
    func keyText(_ field: FieldType) -> String {
        switch field.kind {
        case .bool: bool ? "true" : "false"
        case .int32, .sint32, .sfixed32: String(int32)
        case .uint32, .fixed32: String(uint32)
        case .int64, .sint64, .sfixed64: String(int64)
        case .uint64, .fixed64: String(uint64)
        default: text.string
        }
    }

    /// Whether a value without presence is the default one.
    func isEmpty(_ field: FieldType) -> Bool {
        switch field.shape {
        case .list: return list?.count ?? 0 == 0
        case .map: return map?.count ?? 0 == 0
        case .single: break
        }
        switch field.kind {
        case .string, .bytes:
            let text = text
            return text.bytes.count == 0
        case .bool: return !bool
        // By its bits: minus zero is a value.
        case .double, .int64, .sint64, .sfixed64, .uint64, .fixed64: return uint64 == 0
        default: return uint32 == 0
        }
    }
}

internal import Bytes
internal import CUpb

/// Bytes that stand somewhere else: in the arena of a message, in what it was read from, or in a definition.
@safe
struct Text {
    let raw: martlet_text

    init(_ raw: martlet_text) {
        unsafe self.raw = raw
    }

    /// Refers to bytes that stay where they are for as long as the text is used.
    init(staying bytes: Span<UInt8>) {
        unsafe raw = bytes.withUnsafeBytes { unsafe Self.raw($0) }
    }

    private static func raw(_ bytes: UnsafeRawBufferPointer) -> martlet_text {
        unsafe martlet_text(bytes: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), count: bytes.count)
    }

    /// Refers to a text of a definition.
    init(_ text: UnsafePointer<CChar>) {
        var count = 0
        while unsafe text[count] != 0 { count += 1 }
        unsafe raw = martlet_text(bytes: text, count: count)
    }

    var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let start = unsafe UnsafeRawPointer(raw.bytes)?.assumingMemoryBound(to: UInt8.self)
            let span = unsafe Span(_unsafeElements: UnsafeBufferPointer(start: start, count: raw.count))
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    var string: String {
        let bytes = bytes
        return bytes.string
    }
}

/// A value of a field, as upb has it: the field says which of these it is.
@safe
struct Value {
    var raw: martlet_value

    init(_ raw: martlet_value) { unsafe self.raw = raw }
    init(bool: Bool) { unsafe raw = martlet_value(boolean: bool) }
    init(float: Float) { unsafe raw = martlet_value(single: float) }
    init(double: Double) { unsafe raw = martlet_value(real: double) }
    init(int32: Int32) { unsafe raw = martlet_value(int32: int32) }
    init(int64: Int64) { unsafe raw = martlet_value(int64: int64) }
    init(uint32: UInt32) { unsafe raw = martlet_value(uint32: uint32) }
    init(uint64: UInt64) { unsafe raw = martlet_value(uint64: uint64) }
    init(text: Text) { unsafe raw = martlet_value(text: text.raw) }
    init(message: Message) { unsafe raw = martlet_value(pointer: message.pointer) }

    var bool: Bool { unsafe raw.boolean }
    var float: Float { unsafe raw.single }
    var double: Double { unsafe raw.real }
    var int32: Int32 { unsafe raw.int32 }
    var int64: Int64 { unsafe raw.int64 }
    var uint32: UInt32 { unsafe raw.uint32 }
    var uint64: UInt64 { unsafe raw.uint64 }
    var text: Text { unsafe Text(raw.text) }
    var message: Message? { unsafe raw.pointer.map { unsafe Message($0) } }
    var list: List? { unsafe raw.pointer.map { unsafe List($0) } }
    var map: Map? { unsafe raw.pointer.map { unsafe Map($0) } }
}

internal import Bytes

/// Fields that were taken out of a head, packed as HTTP/1 writes them; a head gets them back by one copy.
///
/// A value: safe on any thread.
public struct HTTPFields: Sendable {
    private var lines: [UInt8] = []
    private var fields: [HTTPHead.Field] = []

    /// No fields.
    public init() {}

    /// Takes the fields of a head that `isWanted` returns true for, by their indexes.
    public init(_ head: HTTPHead, where isWanted: (Int) -> Bool) {
        for index in 0..<head.count where isWanted(index) {
            add(name: head.name(at: index), value: head.value(at: index))
        }
    }

    /// Adds a field, whose name has no capitals, behind the others.
    public mutating func add(name: Span<UInt8>, value: Span<UInt8>) {
        let kind = KnownField(name)
        let start = lines.count
        lines += name.array
        lines += [UInt8(ascii: ":"), UInt8(ascii: " ")]
        let valueStart = lines.count
        lines += value.array
        lines += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        fields.append(
            HTTPHead.Field(
                name: ByteRange(offset: start, count: name.count),
                value: ByteRange(offset: valueStart, count: value.count),
                known: kind,
                lineCount: Int32(truncatingIfNeeded: lines.count - start)
            )
        )
    }

    /// The number of fields.
    public var count: Int { fields.count }

    /// How many bytes they take.
    public var byteCount: Int { lines.capacity + fields.capacity * MemoryLayout<HTTPHead.Field>.stride }

    /// The name of the field at `index`, in small letters.
    @_lifetime(borrow self)
    public func name(at index: Int) -> Span<UInt8> { bytes(fields[index].name) }

    /// The value of the field at `index`.
    @_lifetime(borrow self)
    public func value(at index: Int) -> Span<UInt8> { bytes(fields[index].value) }

    /// The index of the first field with the name at or after `start`.
    public func first(_ name: FieldName, from start: Int = 0) -> Int? {
        var index = start
        while index < fields.count {
            if self.name(at: index).equals(name.bytes) { return index }
            index += 1
        }
        return nil
    }

    @_lifetime(borrow self)
    private func bytes(_ range: ByteRange) -> Span<UInt8> {
        let start = Int(range.offset)
        return lines.span.extracting(start..<start + Int(range.count))
    }

    /// Adds them to a head, behind those that it has.
    fileprivate func add(to head: HTTPHead) {
        let start = head.arena.add(lines.span).offset
        for field in fields {
            var field = field
            field.name.offset += start
            field.value.offset += start
            head.append(field)
        }
    }
}

extension HTTPHead {
    /// Adds fields behind those that are there; this is noted as no change.
    public func add(_ fields: HTTPFields) { fields.add(to: self) }
}

internal import Bytes

/// What a FileDescriptorProto costs in memory when it is linked, as far as its bytes tell.
///
/// A few bytes define something that costs hundreds, and each definition has a copy of the names that it is nested in.
/// Pure, and for bytes of any origin.
struct DescriptorCost: Equatable {
    /// How many definitions there may be.
    static let maxDefinitions = 200_000
    /// How many bytes their full names may have together.
    static let maxNames = 64 << 20

    /// The messages, fields, enumerations, values, services and methods.
    private(set) var definitions = 0
    /// The bytes of their full names.
    private(set) var names = 0

    /// What a part of a file defines.
    private enum Kind {
        case file, message, enumeration, service, leaf

        /// What a field with this number defines.
        func part(_ number: UInt64) -> Kind? {
            switch (self, number) {
            case (.file, 4), (.message, 3): .message
            case (.file, 5), (.message, 4): .enumeration
            case (.file, 6): .service
            case (.file, 7), (.message, 2), (.message, 6), (.message, 8), (.enumeration, 2), (.service, 2): .leaf
            default: nil
            }
        }
    }

    /// A part that has not been looked into; `scope` is how long the full name is of what it stands in.
    private struct Part {
        let kind: Kind
        let place: Range<Int>
        let scope: Int
    }

    /// Adds the cost of a file.
    ///
    /// - Throws: an error if it is not in the wire format, or the costs together are too high.
    mutating func add(_ bytes: Span<UInt8>) throws(ReflectionError) {
        // Not by recursion: a file may nest as deep as it likes.
        var parts = [Part(kind: .file, place: 0..<bytes.count, scope: 0)]
        while let part = parts.popLast() {
            let (name, children) = try Self.read(part, in: bytes, maxCount: Self.maxDefinitions - definitions)
            let full = part.scope + name + 1
            definitions += 1
            names += full
            parts += children.map { Part(kind: $0.kind, place: $0.place, scope: full) }
            guard definitions + parts.count <= Self.maxDefinitions else { throw .tooManyDefinitions }
            guard names <= Self.maxNames else { throw .longNames }
        }
    }

    /// The length of a part's name, and what the part defines.
    private static func read(
        _ part: Part,
        in bytes: Span<UInt8>,
        maxCount: Int
    ) throws(ReflectionError) -> (name: Int, children: [Part]) {
        var (name, children) = (0, [Part]())
        var fields = WireFields(part.place)
        do throws(WireFields.Malformed) {
            while let field = try fields.next(in: bytes), children.count <= maxCount {
                guard case .bytes(let place) = field.value else { continue }
                // The name may stand behind what it is the scope of.
                if field.number == (part.kind == .file ? 2 : 1) { name = place.count }
                if let kind = part.kind.part(field.number) { children.append(Part(kind: kind, place: place, scope: 0)) }
            }
        } catch {
            throw .malformed
        }
        return (name, children)
    }
}

internal import Bytes

/// What a FileDescriptorProto costs when it is linked, in memory and in time, as far as its bytes tell.
///
/// A few bytes define something that costs hundreds, each definition has a copy of the names that it is nested in, and some of
/// what is looked up is looked up in many places. Pure, and for bytes of any origin.
struct DescriptorCost: Equatable {
    /// How many definitions there may be.
    static let maxDefinitions = 200_000
    /// How many bytes their full names may have together.
    static let maxNames = 64 << 20
    /// How many bytes the names may have that are looked up: a relative one in each scope around it.
    static let maxLookups = 256 << 20
    /// How many pairs there may be of an extension and a range for extensions, which are compared with each other.
    static let maxPairs = 100_000_000

    /// The messages, fields, enumerations, values, services, methods and ranges for extensions.
    private(set) var definitions = 0
    /// The bytes of their full names.
    private(set) var names = 0
    /// The bytes of the names that are looked up.
    private(set) var lookups = 0
    private var extensions = 0
    private var ranges = 0

    /// What a part of a file defines.
    private enum Kind {
        case file, message, enumeration, service, field, method, fieldOfOther, range, leaf

        /// What a field with this number defines.
        func part(_ number: UInt64) -> Kind? {
            switch (self, number) {
            case (.file, 4), (.message, 3): .message
            case (.file, 5), (.message, 4): .enumeration
            case (.file, 6): .service
            case (.message, 2): .field
            case (.file, 7), (.message, 6): .fieldOfOther
            case (.message, 5): .range
            case (.service, 2): .method
            case (.message, 8), (.enumeration, 2): .leaf
            default: nil
            }
        }

        /// Whether a field with this number names a type, fully with a dot before it.
        func namesType(_ number: UInt64) -> Bool {
            switch self {
            case .field: number == 6
            case .fieldOfOther: number == 6 || number == 2
            case .method: number == 2 || number == 3
            default: false
            }
        }
    }

    /// A part that has not been looked into.
    private struct Part {
        let kind: Kind
        let place: Range<Int>
        /// How long the full name is of what it stands in, and how many scopes that are.
        var scope = 0, depth = 0
    }

    /// What the bytes of a part say.
    private struct Contents {
        var name = 0
        /// The dots in it: that of a file is its package.
        var dots = 0
        var children: [Part] = []
        /// The lengths of the relative names of types.
        var relative: [Int] = []
    }

    /// Adds the cost of a file.
    ///
    /// - Throws: an error if it is not in the wire format, or the costs together are too high.
    mutating func add(_ bytes: Span<UInt8>) throws(ReflectionError) {
        // Not by recursion: a file may nest as deep as it likes.
        var parts = [Part(kind: .file, place: 0..<bytes.count)]
        while let part = parts.popLast() {
            let contents = try Self.read(part, in: bytes, maxCount: Self.maxDefinitions - definitions)
            let full = part.scope + contents.name + 1
            let depth = part.depth + contents.dots + 1
            definitions += 1
            names += full
            for length in contents.relative { lookups += (part.depth + 1) * (part.scope + length) }
            if part.kind == .fieldOfOther { extensions += 1 }
            if part.kind == .range { ranges += 1 }
            parts += contents.children.map { Part(kind: $0.kind, place: $0.place, scope: full, depth: depth) }
            guard definitions + parts.count <= Self.maxDefinitions else { throw .tooManyDefinitions }
            guard names <= Self.maxNames, lookups <= Self.maxLookups else { throw .longNames }
            guard extensions * ranges <= Self.maxPairs else { throw .tooManyExtensions }
        }
    }

    private static func read(
        _ part: Part,
        in bytes: Span<UInt8>,
        maxCount: Int
    ) throws(ReflectionError) -> Contents {
        var contents = Contents()
        var fields = WireFields(part.place)
        do throws(WireFields.Malformed) {
            while let field = try fields.next(in: bytes), contents.children.count <= maxCount {
                guard case .bytes(let place) = field.value else { continue }
                // The name may stand behind what it is the scope of.
                if field.number == (part.kind == .file ? 2 : 1) {
                    (contents.name, contents.dots) = (place.count, dots(in: bytes.extracting(place)))
                } else if part.kind.namesType(field.number), !place.isEmpty,
                    bytes[place.lowerBound] != UInt8(ascii: ".")
                {
                    contents.relative.append(place.count)
                }
                if let kind = part.kind.part(field.number) { contents.children.append(Part(kind: kind, place: place)) }
            }
        } catch {
            throw .malformed
        }
        return contents
    }

    private static func dots(in name: Span<UInt8>) -> Int {
        var count = 0
        for index in name.indices where name[index] == UInt8(ascii: ".") { count += 1 }
        return count
    }
}

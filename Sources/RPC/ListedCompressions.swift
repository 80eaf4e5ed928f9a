internal import Bytes

/// The compressions that a caller lists for the messages of a response.
///
/// A response without compression suits every caller. Belongs to one thread.
public struct ListedCompressions: Sendable {
    /// A bit for each compression, by its raw value.
    private var listed = UInt8(1) << Compression.identity.rawValue
    private var excluded: UInt8 = 0
    private var hasWildcard = false
    /// The maximum number of names that Martlet does not know; later ones count as not listed.
    private static let maxOthers = 16
    /// The names that Martlet does not know.
    private var others: [[UInt8]] = []

    /// Creates a list of `identity` alone.
    public init() {}

    /// Adds the names of a field.
    public mutating func add(field: Span<UInt8>) {
        var position = 0
        while let item = CompressionItem(in: field, at: &position) {
            let name = field.extracting(item.name)
            let compression = Compression(name: name)
            if name.equals("*") {
                hasWildcard = !item.isExcluded
            } else if compression == .unknown {
                if !item.isExcluded, others.count < Self.maxOthers { others.append(name.array) }
            } else if item.isExcluded {
                excluded |= 1 << compression.rawValue
            } else {
                listed |= 1 << compression.rawValue
            }
        }
    }

    /// Returns whether the list has the compression of this name, or has a wildcard for it.
    public func contains(_ name: Span<UInt8>) -> Bool {
        let compression = Compression(name: name)
        guard compression != .unknown else {
            return hasWildcard || others.contains { $0.span.equalsIgnoringCase(name) }
        }
        let bit = UInt8(1) << compression.rawValue
        return listed & bit != 0 || hasWildcard && excluded & bit == 0
    }
}

extension Span<UInt8> {
    /// Returns whether the bytes are the same, apart from the case of ASCII letters.
    fileprivate func equalsIgnoringCase(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index].lowercasedASCII != other[index].lowercasedASCII { return false }
        return true
    }
}

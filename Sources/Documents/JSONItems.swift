internal import Bytes

/// The items of an array in JSON, in their order.
///
/// Those of a text are read each time they are asked for. To count them, or to find one by its number, costs a step for each.
public struct JSONItems: Collection, Equatable, Sendable {
    /// The place of an item.
    public struct Index: Comparable, Sendable {
        fileprivate let value: Int

        public static func < (one: Index, other: Index) -> Bool { one.value < other.value }
    }

    private enum Storage: Sendable {
        case values([JSONValue])
        case document(JSONDocument, Int)
    }

    private let storage: Storage

    /// Creates a list of values.
    public init(_ values: [JSONValue]) { storage = .values(values) }

    init(_ document: JSONDocument, _ index: Int) { storage = .document(document, index) }

    public var startIndex: Index {
        switch storage {
        case .values: Index(value: 0)
        case .document(let document, let index): Index(value: document.parts(of: index).lowerBound)
        }
    }

    public var endIndex: Index {
        switch storage {
        case .values(let values): Index(value: values.count)
        case .document(let document, let index): Index(value: document.parts(of: index).upperBound)
        }
    }

    public func index(after index: Index) -> Index {
        switch storage {
        case .values: Index(value: index.value + 1)
        case .document(let document, _): Index(value: document.next(after: index.value))
        }
    }

    public subscript(index: Index) -> JSONValue {
        switch storage {
        case .values(let values): values[index.value]
        case .document(let document, _): document.value(at: index.value)
        }
    }

    /// Returns the item with a number from 0, or `nil` if there are fewer.
    public func item(_ number: Int) -> JSONValue? {
        guard number >= 0 else { return nil }
        return index(startIndex, offsetBy: number, limitedBy: endIndex).flatMap { $0 < endIndex ? self[$0] : nil }
    }

    public static func == (one: JSONItems, other: JSONItems) -> Bool {
        one.source == other.source && one.source != nil || one.elementsEqual(other)
    }

    /// The document and the index in it, if the items are of a text.
    var source: JSONSource? {
        if case .document(let document, let index) = storage { JSONSource(document, index) } else { nil }
    }
}

/// A place in a document.
struct JSONSource: Equatable {
    let document: JSONDocument
    let index: Int

    init(_ document: JSONDocument, _ index: Int) { (self.document, self.index) = (document, index) }

    static func == (one: JSONSource, other: JSONSource) -> Bool {
        one.document === other.document && one.index == other.index
    }
}

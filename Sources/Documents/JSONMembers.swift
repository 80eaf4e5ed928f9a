internal import Bytes

/// The members of an object in JSON, in their order, no name twice.
///
/// Those of a text are read each time they are asked for. To count or find them costs a step for each.
public struct JSONMembers: Collection, Equatable, Sendable {
    /// The place of a member.
    public struct Index: Comparable, Sendable {
        fileprivate let value: Int

        public static func < (one: Index, other: Index) -> Bool { one.value < other.value }
    }

    private enum Storage: Sendable {
        case values([JSONValue.Member])
        case document(JSONDocument, Int)
    }

    private let storage: Storage

    /// Creates a list of members.
    public init(_ members: [JSONValue.Member]) { storage = .values(members) }

    init(_ document: JSONDocument, _ index: Int) { storage = .document(document, index) }

    public var startIndex: Index {
        switch storage {
        case .values: Index(value: 0)
        case .document(let document, let index): Index(value: document.parts(of: index).lowerBound)
        }
    }

    public var endIndex: Index {
        switch storage {
        case .values(let members): Index(value: members.count)
        case .document(let document, let index): Index(value: document.parts(of: index).upperBound)
        }
    }

    public func index(after index: Index) -> Index {
        switch storage {
        case .values: Index(value: index.value + 1)
        case .document(let document, _): Index(value: document.next(after: index.value + 1))
        }
    }

    public subscript(index: Index) -> JSONValue.Member {
        switch storage {
        case .values(let members): members[index.value]
        case .document(let document, _):
            JSONValue.Member(document.string(at: index.value), document.value(at: index.value + 1))
        }
    }

    /// Returns the value of the member with a name, or `nil` if there is none.
    public func value(named name: String) -> JSONValue? {
        switch storage {
        case .values(let members): return members.first { $0.name.isSame(as: name) }?.value
        case .document(let document, let index):
            let parts = document.parts(of: index)
            var place = parts.lowerBound
            while place < parts.upperBound {
                if document.isName(name, at: place) { return document.value(at: place + 1) }
                place = document.next(after: place + 1)
            }
            return nil
        }
    }

    /// Objects are equal in whatever order their members are.
    public static func == (one: JSONMembers, other: JSONMembers) -> Bool {
        if one.source == other.source, one.source != nil { return true }
        // Most have the same order.
        var (place, otherPlace) = (one.startIndex, other.startIndex)
        while place < one.endIndex, otherPlace < other.endIndex {
            guard one[place] == other[otherPlace] else { break }
            (place, otherPlace) = (one.index(after: place), other.index(after: otherPlace))
        }
        if place == one.endIndex || otherPlace == other.endIndex {
            return place == one.endIndex && otherPlace == other.endIndex
        }
        return one.count == other.count
            && one[place...].allSatisfy { member in other.value(named: member.name) == member.value }
    }

    /// The document and the index in it, if the members are of a text.
    var source: JSONSource? {
        if case .document(let document, let index) = storage { JSONSource(document, index) } else { nil }
    }
}

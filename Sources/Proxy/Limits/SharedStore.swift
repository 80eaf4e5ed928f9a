internal import Events

/// What interceptors keep for the whole process: shared by its workers, and kept through reloads.
///
/// An object is there as long as some generation of some worker has it. Safe on any thread.
public final class SharedStore: Sendable {
    private struct Key: Hashable, Sendable {
        let kind: ObjectIdentifier
        let value: any Hashable & Sendable

        static func == (one: Key, other: Key) -> Bool {
            one.kind == other.kind && AnyHashable(one.value) == AnyHashable(other.value)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(kind)
            hasher.combine(AnyHashable(value))
        }
    }

    private struct Entry {
        weak var object: (any AnyObject & Sendable)?
    }

    private let entries = Locked<[Key: Entry]>([:])

    /// Makes an empty store.
    public init() {}

    /// The one object of its type for `key`, made if there is none, or none that fits.
    ///
    /// - Parameters:
    ///   - key: what objects of this type are told apart by.
    ///   - fits: whether the object that is there is as it would be made now.
    ///   - make: makes the object; called while no other thread can use the store.
    /// - Returns: the object, which the caller keeps.
    public func object<Object: AnyObject & Sendable>(
        _ key: some Hashable & Sendable,
        fits: (Object) -> Bool = { _ in true },
        make: () -> Object
    ) -> Object {
        let key = Key(kind: ObjectIdentifier(Object.self), value: key)
        return entries.withLock { entries in
            if let known = entries[key]?.object as? Object, fits(known) { return known }
            entries = entries.filter { $0.value.object != nil }
            let new = make()
            entries[key] = Entry(object: new)
            return new
        }
    }

    /// All objects of a type that are there.
    public func all<Object: AnyObject & Sendable>(_: Object.Type) -> [Object] {
        entries.withLock { entries in entries.values.compactMap { $0.object as? Object } }
    }
}

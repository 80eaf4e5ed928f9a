/// A list of plain values in memory of its own, for what changes with every call.
///
/// Nobody shares it, so that no change has to ask whether somebody does, as that of an array has to. `removeAll` keeps the
/// memory. Belongs to one thread.
@safe
public struct OwnedList<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    /// The number of values.
    public private(set) var count = 0

    /// Makes an empty list with room for `capacity` values, at least one.
    public init(capacity: Int) {
        self.capacity = max(1, capacity)
        unsafe base = .allocate(capacity: self.capacity)
    }

    deinit {
        unsafe base.deallocate()
    }

    /// The value at `index`, from 0; ends the process if there is none.
    public subscript(index: Int) -> Element {
        get {
            precondition(index >= 0 && index < count)
            return unsafe base[index]
        }
        set {
            precondition(index >= 0 && index < count)
            unsafe base[index] = newValue
        }
    }

    /// Adds a value behind the others.
    public mutating func append(_ value: Element) {
        if count == capacity { grow(to: count + 1) }
        unsafe base[count] = value
        count += 1
    }

    /// Becomes a copy of `other`.
    public mutating func copy(_ other: borrowing OwnedList) {
        count = 0
        if other.count > capacity { grow(to: other.count) }
        unsafe base.update(from: other.base, count: other.count)
        count = other.count
    }

    /// Takes the value at `index` out; those behind it move up.
    public mutating func remove(at index: Int) {
        precondition(index >= 0 && index < count)
        unsafe (base + index).update(from: base + index + 1, count: count - index - 1)
        count -= 1
    }

    /// Keeps the first `kept` values, of which there are as many.
    public mutating func truncate(to kept: Int) {
        precondition(kept >= 0 && kept <= count)
        count = kept
    }

    /// Forgets all values.
    public mutating func removeAll() {
        count = 0
    }

    private mutating func grow(to needed: Int) {
        capacity = max(needed, 2 * capacity)
        let new = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        unsafe new.update(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = new
    }
}

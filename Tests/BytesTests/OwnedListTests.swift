import Bytes
import Testing

@Suite struct `An owned list` {
    private static func filled(_ values: Range<Int>, capacity: Int = 1) -> OwnedList<Int> {
        var list = OwnedList<Int>(capacity: capacity)
        for value in values { list.append(value) }
        return list
    }

    private static func values(_ list: borrowing OwnedList<Int>) -> [Int] {
        var values: [Int] = []
        for index in 0..<list.count { values.append(list[index]) }
        return values
    }

    @Test(arguments: [0, 1, 7, 1000])
    func `keeps what is added, however much that is`(capacity: Int) {
        let list = Self.filled(0..<1000, capacity: capacity)
        #expect(Self.values(list) == Array(0..<1000))
    }

    @Test func `changes a value in its place`() {
        var list = Self.filled(0..<3)
        list[1] = 8
        #expect(Self.values(list) == [0, 8, 2])
    }

    @Test(arguments: [0, 2, 4])
    func `closes the gap where a value was taken out`(place: Int) {
        var list = Self.filled(0..<5)
        list.remove(at: place)
        #expect(Self.values(list) == (0..<5).filter { $0 != place })
    }

    @Test func `forgets those at the end`() {
        var list = Self.filled(0..<5)
        list.truncate(to: 2)
        #expect(Self.values(list) == [0, 1])
        list.append(7)
        #expect(Self.values(list) == [0, 1, 7])
        list.removeAll()
        #expect(list.count == 0)
    }

    @Test(arguments: [0..<0, 0..<3, 0..<100])
    func `is a copy of another, and not the same`(values: Range<Int>) {
        var original = Self.filled(values)
        var copy = Self.filled(50..<60)
        copy.copy(original)
        original.append(-1)
        #expect(Self.values(copy) == Array(values))
        #expect(original.count == values.count + 1)
    }
}

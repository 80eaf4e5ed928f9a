import Bytes
import Testing

@Suite struct `A free list` {
    private final class Thing {}

    private static func kept(_ count: Int, limit: Int = 100) -> FreeList<Int> {
        var list = FreeList<Int>(limit: limit)
        for number in 0..<count { list.give(number) }
        return list
    }

    @Test func `gives what came last, and nothing when it is empty`() {
        var list = Self.kept(2)
        let taken = [list.take(), list.take(), list.take()]
        #expect(taken == [1, 0, nil])
    }

    @Test func `keeps no more than its limit`() {
        var list = Self.kept(2, limit: 2)
        let isKept = list.give(2)
        #expect(!isKept)
        #expect(list.count == 2)
        let taken = list.take()
        #expect(taken == 1)
        let hasRoomAgain = list.give(2)
        #expect(hasRoomAgain)
    }

    @Test func `keeps what came since the last trim`() {
        var list = Self.kept(3)
        let forgotten = list.trim()
        #expect(forgotten.isEmpty)
        #expect(list.count == 3)
    }

    @Test func `forgets those that lay below what was needed`() {
        var list = Self.kept(5)
        list.trim()
        let needed = [list.take(), list.take()]
        for number in needed.compactMap(\.self) { list.give(number) }
        let forgotten = list.trim()
        #expect(forgotten == [0, 1, 2])
        #expect(list.count == 2)
    }

    @Test func `keeps all of them where all are needed at times`() {
        var list = Self.kept(5)
        list.trim()
        let all = (0..<5).compactMap { _ in list.take() }
        for number in all { list.give(number) }
        let forgotten = list.trim()
        #expect(forgotten.isEmpty)
        #expect(list.count == 5)
    }

    @Test func `lets go of what it forgets`() {
        var list = FreeList<Thing>(limit: 1)
        weak var thing: Thing?
        do {
            let new = Thing()
            thing = new
            list.give(new)
        }
        list.trim()
        #expect(thing != nil)
        list.trim()
        #expect(thing == nil)
    }
}

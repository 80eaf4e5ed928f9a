import Bytes
import Testing

@Suite struct `A free list` {
    private final class Thing {}

    private static func kept(_ count: Int, limit: Int = 100) -> FreeList<Int> {
        var list = FreeList<Int>(limit: limit)
        for number in 0..<count { list.release(number) }
        return list
    }

    @Test func `gives what came last, and nothing when it is empty`() {
        var list = Self.kept(2)
        let taken = [list.acquire(), list.acquire(), list.acquire()]
        #expect(taken == [1, 0, nil])
    }

    @Test func `keeps no more than its limit`() {
        var list = Self.kept(2, limit: 2)
        let isKept = list.release(2)
        #expect(!isKept)
        #expect(list.count == 2)
        let taken = list.acquire()
        #expect(taken == 1)
        let hasRoomAgain = list.release(2)
        #expect(hasRoomAgain)
    }

    @Test func `keeps what came since the last trim`() {
        var list = Self.kept(3)
        let removed = list.trim()
        #expect(removed.isEmpty)
        #expect(list.count == 3)
    }

    @Test func `forgets those that lay below what was needed`() {
        var list = Self.kept(5)
        list.trim()
        let needed = [list.acquire(), list.acquire()]
        for number in needed.compactMap(\.self) { list.release(number) }
        let removed = list.trim()
        #expect(removed == [0, 1, 2])
        #expect(list.count == 2)
    }

    @Test func `keeps all of them where all are needed at times`() {
        var list = Self.kept(5)
        list.trim()
        let all = (0..<5).compactMap { _ in list.acquire() }
        for number in all { list.release(number) }
        let removed = list.trim()
        #expect(removed.isEmpty)
        #expect(list.count == 5)
    }

    @Test func `lets go of what it forgets`() {
        var list = FreeList<Thing>(limit: 1)
        weak var thing: Thing?
        do {
            let new = Thing()
            thing = new
            list.release(new)
        }
        list.trim()
        #expect(thing != nil)
        list.trim()
        #expect(thing == nil)
    }
}

import Bytes
import Testing

/// Values of different types in one block of memory.
@Suite struct ValueBlockTests {
    /// Counts those that live.
    private final class Token {
        private let living: Living
        init(_ living: Living) {
            self.living = living
            living.count += 1
        }
        deinit { living.count -= 1 }
    }

    private final class Living {
        var count = 0
    }

    private let layout = ValueLayout()

    init() {
        layout.add(UInt8.self)
        layout.add((UInt64, String).self)
        layout.add(Never.self)
        layout.add(Token.self)
        layout.add(UInt8.self)
    }

    @Test func `each value has a place of its own, whatever the types`() {
        var block = ValueBlock()
        block.put(UInt8(7), at: 0, in: layout)
        block.put((UInt64.max, "a text that is too long to be stored in place"), at: 1, in: layout)
        block.put(UInt8(9), at: 4, in: layout)
        let found1: UInt8? = block.value(at: 0, in: layout)
        #expect(found1 == 7)
        let large: (UInt64, String)? = block.value(at: 1, in: layout)
        #expect(large?.0 == .max && large?.1 == "a text that is too long to be stored in place")
        let found2: UInt8? = block.value(at: 4, in: layout)
        #expect(found2 == 9)
        let none: Token? = block.value(at: 3, in: layout)
        #expect(none == nil)
        block.release(to: layout)
    }

    @Test func `what is taken is gone, and can be put again`() {
        var block = ValueBlock()
        block.put(UInt8(1), at: 0, in: layout)
        let found3: UInt8? = block.take(at: 0, in: layout)
        #expect(found3 == 1)
        let found4: UInt8? = block.take(at: 0, in: layout)
        #expect(found4 == nil)
        block.put(UInt8(2), at: 0, in: layout)
        let found5: UInt8? = block.value(at: 0, in: layout)
        #expect(found5 == 2)
        block.release(to: layout)
    }

    @Test func `what is released is freed, and holds nothing more`() {
        let living = Living()
        var block = ValueBlock()
        block.put(Token(living), at: 3, in: layout)
        #expect(living.count == 1)
        block.release(to: layout)
        #expect(living.count == 0)
        block.put(Token(living), at: 3, in: layout)
        let late: Token? = block.value(at: 3, in: layout)
        #expect(late == nil)
        #expect(living.count == 0)
    }

    @Test func `the next block begins without what the one before has held`() {
        for number in UInt8(1)...3 {
            var block = ValueBlock()
            let before: UInt8? = block.value(at: 0, in: layout)
            #expect(before == nil)
            block.put(number, at: 4, in: layout)
            let other: UInt8? = block.value(at: 0, in: layout)
            #expect(other == nil)
            block.release(to: layout)
        }
    }
}

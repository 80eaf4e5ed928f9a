import Testing

@testable import Proxy

/// What interceptors keep for one call.
@Suite struct CallStatesTests {
    private final class Small: Interceptor {
        typealias CallState = UInt8
    }

    private final class Large: Interceptor {
        typealias CallState = (UInt64, String)
    }

    private final class Counted: Interceptor {
        typealias CallState = Token
    }

    private final class Nothing: Interceptor {}

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

    private let layout = CallStateLayout([Small(), Large(), Nothing(), Counted(), Small()])

    @Test func `each link has a place of its own, whatever the types`() {
        var states = CallStates()
        states.put(UInt8(7), at: 0, in: layout)
        states.put((UInt64.max, "a text that is too long to be stored in place"), at: 1, in: layout)
        states.put(UInt8(9), at: 4, in: layout)
        #expect(states.value(at: 0, in: layout) == UInt8(7))
        let large: (UInt64, String)? = states.value(at: 1, in: layout)
        #expect(large?.0 == .max && large?.1 == "a text that is too long to be stored in place")
        #expect(states.value(at: 4, in: layout) == UInt8(9))
        let none: Token? = states.value(at: 3, in: layout)
        #expect(none == nil)
        states.release(to: layout)
    }

    @Test func `what is taken is gone, and can be put again`() {
        var states = CallStates()
        states.put(UInt8(1), at: 0, in: layout)
        #expect(states.take(at: 0, in: layout) == UInt8(1))
        #expect(states.take(at: 0, in: layout) == UInt8?.none)
        states.put(UInt8(2), at: 0, in: layout)
        #expect(states.value(at: 0, in: layout) == UInt8(2))
        states.release(to: layout)
    }

    @Test func `the end of the call frees what is kept, and keeps nothing more`() {
        let living = Living()
        var states = CallStates()
        states.put(Token(living), at: 3, in: layout)
        #expect(living.count == 1)
        states.release(to: layout)
        #expect(living.count == 0)
        states.put(Token(living), at: 3, in: layout)
        let late: Token? = states.value(at: 3, in: layout)
        #expect(late == nil)
        #expect(living.count == 0)
    }

    @Test func `the next call begins without what the one before has kept`() {
        for number in UInt8(1)...3 {
            var states = CallStates()
            let before: UInt8? = states.value(at: 0, in: layout)
            #expect(before == nil)
            states.put(number, at: 4, in: layout)
            let other: UInt8? = states.value(at: 0, in: layout)
            #expect(other == nil)
            states.release(to: layout)
        }
    }
}

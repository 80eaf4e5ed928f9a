/// A fast random number generator (xoshiro256++), for ids and chance, not for secrets.
public struct Xoshiro256: RandomNumberGenerator, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    /// Makes a generator that the system's generator has seeded.
    public init() {
        var system = SystemRandomNumberGenerator()
        self.init(state: (system.next(), system.next(), system.next(), system.next() | 1))
    }

    /// Makes a generator with a given state, which must not be all zeros: the same numbers each time.
    public init(state: (UInt64, UInt64, UInt64, UInt64)) {
        self.state = state
    }

    public mutating func next() -> UInt64 {
        let result = Self.rotate(state.0 &+ state.3, 23) &+ state.0
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = Self.rotate(state.3, 45)
        return result
    }

    /// The next number as a fraction: from 0 up to, and without, 1, in steps of 2⁻⁵³.
    public mutating func nextFraction() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
        value << count | value >> (64 - count)
    }
}

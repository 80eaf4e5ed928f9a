import Policy
import Testing

/// The generator of random numbers.
@Suite struct Xoshiro256Tests {
    @Test func `the numbers are those of xoshiro256++`() {
        var random = Xoshiro256(state: (1, 2, 3, 4))
        let numbers = (0..<10).map { _ in random.next() }
        #expect(
            numbers == [
                41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386, 9_228_616_714_210_784_205,
                9_973_669_472_204_895_162, 14_011_001_112_246_962_877, 12_406_186_145_184_390_807,
                15_849_039_046_786_891_736, 10_450_023_813_501_588_000,
            ]
        )
    }

    @Test func `a fraction is the next number of 53 bits, below 1`() {
        var (random, same) = (Xoshiro256(state: (1, 2, 3, 4)), Xoshiro256(state: (1, 2, 3, 4)))
        var sum = 0.0
        for _ in 0..<10_000 {
            let fraction = random.nextFraction()
            #expect((0..<1).contains(fraction))
            #expect(fraction * 0x1p53 == Double(same.next() >> 11))
            sum += fraction
        }
        #expect((0.48...0.52).contains(sum / 10_000))
    }

    @Test func `the highest number is no whole fraction`() {
        // The first number is the sum of the outer two, rotated, and the first: (0 + all ones) rotated is all ones.
        var random = Xoshiro256(state: (0, 1, 1, .max))
        let fraction = random.nextFraction()
        #expect(fraction == 1 - 0x1p-53)
    }

    @Test func `the system seeds each generator otherwise`() {
        var (one, other) = (Xoshiro256(), Xoshiro256())
        let (first, second) = (one.next(), other.next())
        #expect(first != second)
    }
}

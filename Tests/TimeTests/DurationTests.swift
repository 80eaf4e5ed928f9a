import Testing
import Time

@Suite struct DurationTests {
    @Test func `units are what they say`() {
        #expect(Duration.microseconds(1500) == .nanoseconds(1_500_000))
        #expect(Duration.milliseconds(250) == 250 * .millisecond)
        #expect(Duration.seconds(3) == 3 * .second)
        #expect((2500 * .millisecond).seconds == 2)
        #expect((1500 * .millisecond).milliseconds == 1500)
        #expect(Duration.nanoseconds(1999).microseconds == 1)
        #expect((1500 * .millisecond).fractionalSeconds == 1.5)
    }

    @Test func `arithmetic keeps the unit`() {
        #expect(Duration.second - 400 * .millisecond == 600 * .millisecond)
        #expect(Duration.second / 4 == 250 * .millisecond)
        #expect(Duration.seconds(7) / (2 * .second) == 3)
        #expect(Duration.seconds(7) % (2 * .second) == .second)
        #expect(-Duration.second < .zero)
    }

    @Test func `what does not fit is the longest or the shortest`() {
        #expect(Duration.seconds(9_223_372_036).nanoseconds == 9_223_372_036_000_000_000)
        #expect(Duration.seconds(9_223_372_037) == .max)
        #expect(Duration.seconds(.min) == .min)
        #expect(Duration.second.multiplied(saturating: .max) == .max)
        #expect(Duration.second.multiplied(saturating: .min) == .min)
        #expect((-Duration.second).multiplied(saturating: .min) == .max)
        #expect(Duration.second.scaled(by: 1e300) == .max)
        #expect(Duration.second.scaled(by: -.infinity) == .min)
        #expect(Duration.second.scaled(by: .nan) == .zero)
    }
}

import Policy
import Testing
import Time

/// Bytes that go on at a rate.
@Suite struct PaceTests {
    @Test func `bytes go on at their rate, whatever pieces they come in`() {
        var pace = Pace(bytesPerSecond: 1000)
        #expect(pace.wait(for: 500, at: .start + 7 * .second) == 500 * .millisecond)
        #expect(pace.wait(for: 250, at: .start + 7 * .second) == 750 * .millisecond)
        #expect(pace.wait(for: 100, at: .start + 7 * .second + 800 * .millisecond) == 100 * .millisecond)
        #expect(pace.wait(for: 3000, at: .start + 20 * .second) == 3 * .second)
    }

    @Test func `what is less than a timer can report adds up`() {
        var pace = Pace(bytesPerSecond: 1000)
        #expect((1...9).map { _ in pace.wait(for: 1, at: .start) } == [Duration](repeating: .zero, count: 9))
        #expect(pace.wait(for: 1, at: .start) == 10 * .millisecond)
    }
}

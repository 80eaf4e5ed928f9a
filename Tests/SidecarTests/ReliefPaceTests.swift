import Events
import Testing
import Time

@testable import Sidecar

/// How often it is looked for calls that could end when memory is short.
@Suite struct ReliefPaceTests {
    private static let usual = 50 * Duration.millisecond

    @Test func `rounds that find nothing come ever later, until one frees something`() {
        var pace = ReliefPace()
        let pauses = (0..<7).map { _ in pace.foundNothing(holding: 100, usual: Self.usual) / .millisecond }
        #expect(pauses == [50, 100, 200, 400, 800, 1000, 1000])
        #expect(pace.freed(usual: Self.usual) == Self.usual)
        #expect(pace.foundNothing(holding: 100, usual: Self.usual) == Self.usual)
    }

    @Test func `a round comes sooner if much more is held than in one that found nothing`() {
        var pace = ReliefPace()
        #expect(!pace.isOvertaken(holding: 1000, limit: 160))
        _ = pace.foundNothing(holding: 1000, usual: Self.usual)
        #expect(!pace.isOvertaken(holding: 1010, limit: 160))
        #expect(pace.isOvertaken(holding: 1011, limit: 160))
        _ = pace.freed(usual: Self.usual)
        #expect(!pace.isOvertaken(holding: 1011, limit: 160))
    }
}

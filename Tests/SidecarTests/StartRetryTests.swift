import Events
import Testing
import Time

@testable import Sidecar

@Suite struct StartRetryTests {
    @Test func `the pauses grow to half a minute and stay there`() {
        var retry = StartRetry()
        let pauses = (0..<8).map { _ in retry.pause() / .second }
        #expect(pauses == [1, 2, 4, 8, 16, 30, 30, 30])
    }
}

import Policy
import Testing
import Time

/// When health checks put an address out, and when they bring it back.
@Suite struct HealthChecksTests {
    private func states(_ outcomes: [Bool], up: Int, down: Int, isDown: Bool = false) -> [Bool] {
        var checks = HealthChecks(up: up, down: down, isDown: isDown)
        return outcomes.map { outcome in
            checks.note(hasSucceeded: outcome)
            return checks.isDown
        }
    }

    @Test func `so many in a row decide`() {
        #expect(states([false, false, false, true], up: 1, down: 3) == [false, false, true, false])
        #expect(states([false, false, true, false, false], up: 1, down: 3).contains(true) == false)
        #expect(states([false, true, false, true, true], up: 2, down: 1) == [true, true, true, true, false])
        #expect(states([true, true], up: 2, down: 1, isDown: true) == [true, false])
    }

    @Test func `an address that is down is out until a check says otherwise`() {
        var health = AddressHealth()
        let isNew = health.checked(isDown: true, at: .start)
        let isNewAgain = health.checked(isDown: true, at: .start)
        #expect(isNew && !isNewAgain)
        #expect(health.isOut(at: .max) && health.reason == .health && health.out == nil)
        // Neither a connection nor a call says anything about that.
        let isBack = health.connected() || health.succeeded(wasProbe: true)
        #expect(!isBack && health.isOut(at: .start))
        _ = health.checked(isDown: false, at: .start)
        #expect(!health.isOut(at: .start) && health.reason == nil)
    }

    @Test func `it says nothing about calls that fail`() {
        var health = AddressHealth()
        let pauses = AddressHealth.Pauses(first: .second, max: .second)
        _ = health.failed(limit: 1, mayGo: true, pauses, at: .start, wasProbe: false, chance: 0.5)
        _ = health.checked(isDown: true, at: .start)
        _ = health.checked(isDown: false, at: .start)
        #expect(health.reason == .calls && health.isOut(at: .start))
    }
}

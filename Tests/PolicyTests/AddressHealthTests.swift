import Policy
import Testing
import Time

/// When an address is out, and when it is back.
@Suite struct AddressHealthTests {
    private static let pauses = AddressHealth.Pauses(first: .second, max: 4 * .second)

    private func time(_ milliseconds: Int) -> Instant { .start + milliseconds * .millisecond }

    @discardableResult
    private func fail(_ health: inout AddressHealth, at now: Instant, wasProbe: Bool = false, mayGo: Bool = true)
        -> Bool
    {
        health.failed(limit: 3, mayGo: mayGo, Self.pauses, at: now, wasProbe: wasProbe, chance: 0.5)
    }

    @Test func `so many failures in a row put it out`() {
        var health = AddressHealth()
        #expect(!fail(&health, at: time(0)))
        #expect(!fail(&health, at: time(0)))
        _ = health.succeeded(wasProbe: false)
        #expect(!fail(&health, at: time(0)))
        #expect(!fail(&health, at: time(0)))
        #expect(health.willEject(at: 3))
        #expect(fail(&health, at: time(0)))
        #expect(health.out?.reason == .calls)
        #expect(health.isOut(at: time(999)) && !health.isOut(at: time(1000)))
    }

    @Test func `it stays if too many others are out`() {
        var health = AddressHealth()
        for _ in 0..<9 { #expect(!fail(&health, at: time(0), mayGo: false)) }
        #expect(health.out == nil)
    }

    @Test func `one call is a probe, and its failure doubles the pause`() {
        var health = AddressHealth()
        for _ in 0..<3 { fail(&health, at: time(0)) }
        let result1 = health.admit(at: time(500), chance: 0.5)
        #expect(!result1)
        var (now, pauses) = (1000, [Int]())
        for _ in 0..<4 {
            let result2 = health.admit(at: time(now), chance: 0.5)
            #expect(result2)
            // Nobody else, as long as it has not ended.
            #expect(health.isOut(at: time(now)))
            let isSecond = health.admit(at: time(now), chance: 0.5)
            #expect(!isSecond)
            fail(&health, at: time(now), wasProbe: true)
            let pause = ((health.out?.until ?? .start) - time(now)) / .millisecond
            pauses.append(pause)
            now += pause
        }
        #expect(pauses == [2000, 4000, 4000, 4000])
        let result3 = health.admit(at: time(now), chance: 0.5)
        #expect(result3)
        let result4 = health.succeeded(wasProbe: true)
        #expect(result4)
        #expect(health.out == nil && health.failures == 0)
        // It begins anew.
        for _ in 0..<3 { fail(&health, at: time(now)) }
        #expect(health.out?.until == time(now + 1000))
    }

    @Test func `what began before it was out says nothing`() {
        var health = AddressHealth()
        for _ in 0..<3 { fail(&health, at: time(0)) }
        let out = health.out
        fail(&health, at: time(10))
        let result5 = health.succeeded(wasProbe: false)
        #expect(!result5)
        #expect(health.out == out)
    }

    @Test func `a connection brings it back if there was none, and only then`() {
        var health = AddressHealth()
        let result6 = health.connectFailed(at: time(0), wasProbe: false, chance: 0)
        #expect(result6)
        // Whoever has the time makes a connection for that, and no call waits for it.
        let isProbe = health.admit(at: time(800), chance: 0.5)
        #expect(isProbe && health.isOut(at: time(800)) && health.isOut(at: time(1_000_000)))
        let result7 = health.connectFailed(at: time(0), wasProbe: false, chance: 0)
        #expect(!result7)
        let result8 = health.connected()
        #expect(result8)
        #expect(health.out == nil)
        for _ in 0..<3 { fail(&health, at: time(0)) }
        let result9 = health.connected()
        #expect(!result9)
        #expect(health.out?.reason == .calls)
    }

    @Test(arguments: [(0.0, 800), (0.5, 1000), (1.0, 1200)])
    func `a pause is up to a fifth shorter or longer`(_ chance: Double, _ pause: Int) {
        var health = AddressHealth()
        _ = health.connectFailed(at: time(0), wasProbe: false, chance: chance)
        #expect(health.out?.until == time(pause))
    }
}

import Events
import Proxy
import Testing

@testable import Interceptors

/// Signals for the scripts of mocks.
@Suite struct MockSignalsTests {
    private let signals = MockSignals.shared(in: SharedStore())

    @Test func `a signal wakes all that wait for it, once, and nobody else`() {
        let woken = Locked<[String]>([])
        for name in ["a", "b", "a"] {
            _ = signals.wait(for: name, beyond: 0) { woken.withLock { $0.append(name) } }
        }
        #expect(signals.raise("a") == 2)
        #expect(woken.withLock { $0 } == ["a", "a"])
        #expect(signals.raise("a") == 0)
    }

    @Test func `what was raised before is used by those who have not`() {
        signals.raise("a")
        #expect(signals.raised(["a", "b"]) == ["a": 1, "b": 0])
        #expect(signals.wait(for: "a", beyond: 0, wake: {}) == nil)
        #expect(signals.wait(for: "a", beyond: 1, wake: {}) != nil)
    }

    @Test func `who waits no more is not woken`() throws {
        let woken = Locked(false)
        let ticket = try #require(signals.wait(for: "a", beyond: 0) { woken.withLock { $0 = true } })
        signals.stopWaiting(for: "a", ticket)
        #expect(signals.raise("a") == 0)
        #expect(woken.withLock { !$0 })
    }

    @Test func `an object is shared as long as somebody has it`() {
        final class Thing: Sendable {}
        let store = SharedStore()
        var one: Thing? = store.object(1) { Thing() }
        #expect(store.object(1) { Thing() } === one)
        #expect(store.object(2) { Thing() } !== one)
        #expect(store.object(1, fits: { _ in false }, make: { Thing() }) !== one)
        one = store.object(3) { Thing() }
        #expect(store.all(Thing.self).count == 1)
        one = nil
        #expect(store.all(Thing.self).isEmpty)
    }
}

import Testing
import Time

@testable import Sidecar

/// The order of a stop: which sockets close when, and who is cut off.
struct DrainStepsTests {
    private static func steps(
        maxTime: Duration? = .nanoseconds(100),
        handover: Duration? = .nanoseconds(20),
        holds: Bool
    ) -> DrainSteps {
        DrainSteps(
            at: .start + .nanoseconds(1000),
            minTime: .nanoseconds(10),
            maxTime: maxTime,
            handover: handover,
            holds: holds
        )
    }

    @Test(arguments: [true, false])
    func `all sockets stay open for the minimum`(holds: Bool) {
        var steps = Self.steps(holds: holds)
        #expect(steps.next(at: .start + .nanoseconds(1009), leaving: 0, open: 0, lingering: 0) == .wait)
        #expect(steps.next(at: .start + .nanoseconds(1010), leaving: 5, open: 5, lingering: 0) == .closeOwn)
    }

    @Test func `without held sockets the end comes with the last connection`() {
        var steps = Self.steps(holds: false)
        #expect(steps.next(at: .start + .nanoseconds(1010), leaving: 2, open: 2, lingering: 0) == .closeOwn)
        #expect(steps.next(at: .start + .nanoseconds(1020), leaving: 2, open: 2, lingering: 0) == .wait)
        #expect(steps.next(at: .start + .nanoseconds(1030), leaving: 0, open: 0, lingering: 0) == .end)
        #expect(steps.isClean)
    }

    @Test func `whoever only does not close its connection is not cut off`() {
        var steps = Self.steps(holds: false)
        #expect(steps.next(at: .start + .nanoseconds(1010), leaving: 2, open: 2, lingering: 0) == .closeOwn)
        #expect(steps.next(at: .start + .nanoseconds(1100), leaving: 2, open: 2, lingering: 2) == .end)
        #expect(steps.isClean)
    }

    @Test func `without held sockets the maximum ends the process`() {
        var steps = Self.steps(holds: false)
        #expect(steps.next(at: .start + .nanoseconds(1010), leaving: 2, open: 2, lingering: 0) == .closeOwn)
        #expect(steps.next(at: .start + .nanoseconds(1100), leaving: 1, open: 1, lingering: 0) == .end)
        #expect(!steps.isClean)
    }

    @Test func `held sockets stay open as long as old calls are under way, however many new ones are`() {
        var steps = Self.steps(holds: true)
        #expect(steps.next(at: .start + .nanoseconds(1010), leaving: 1, open: 3, lingering: 0) == .closeOwn)
        #expect(steps.next(at: .start + .nanoseconds(1050), leaving: 1, open: 9, lingering: 0) == .wait)
        #expect(steps.next(at: .start + .nanoseconds(1060), leaving: 0, open: 9, lingering: 0) == .closeHeld)
        #expect(steps.next(at: .start + .nanoseconds(1070), leaving: 9, open: 9, lingering: 0) == .wait)
        #expect(steps.next(at: .start + .nanoseconds(1075), leaving: 0, open: 0, lingering: 0) == .end)
        #expect(steps.isClean)
    }

    @Test func `with held sockets the maximum cuts off old calls alone, and the handover what is left`() {
        var steps = Self.steps(holds: true)
        #expect(steps.next(at: .start + .nanoseconds(1010), leaving: 1, open: 3, lingering: 0) == .closeOwn)
        #expect(steps.next(at: .start + .nanoseconds(1100), leaving: 1, open: 3, lingering: 0) == .cutOff)
        #expect(steps.next(at: .start + .nanoseconds(1101), leaving: 1, open: 3, lingering: 0) == .closeHeld)
        #expect(steps.next(at: .start + .nanoseconds(1120), leaving: 2, open: 2, lingering: 0) == .wait)
        #expect(steps.next(at: .start + .nanoseconds(1121), leaving: 2, open: 2, lingering: 0) == .end)
        #expect(!steps.isClean)
    }

    @Test func `no limits wait for ever`() {
        var steps = Self.steps(maxTime: nil, handover: nil, holds: true)
        #expect(steps.next(at: .start + .nanoseconds(1010), leaving: 1, open: 1, lingering: 0) == .closeOwn)
        #expect(steps.next(at: .start + .nanoseconds(1 << 60), leaving: 1, open: 1, lingering: 0) == .wait)
        #expect(steps.next(at: .start + .nanoseconds(1 << 61), leaving: 0, open: 1, lingering: 0) == .closeHeld)
        #expect(steps.next(at: .start + .nanoseconds(1 << 62), leaving: 1, open: 1, lingering: 0) == .wait)
    }

    @Test(arguments: [true, false])
    func `callers that do not close their connections hold nothing up`(holds: Bool) {
        let millisecond: Int64 = 1_000_000
        var steps = DrainSteps(
            at: .start + .nanoseconds(0),
            minTime: .nanoseconds(0),
            maxTime: nil,
            handover: nil,
            holds: holds
        )
        #expect(steps.next(at: .start + .nanoseconds(0), leaving: 0, open: 2, lingering: 0) == .closeOwn)
        if holds {
            #expect(steps.next(at: .start + .nanoseconds(0), leaving: 0, open: 2, lingering: 0) == .closeHeld)
        }
        #expect(steps.next(at: .start + .nanoseconds(300 * millisecond), leaving: 2, open: 2, lingering: 1) == .wait)
        #expect(steps.next(at: .start + .nanoseconds(499 * millisecond), leaving: 2, open: 2, lingering: 2) == .wait)
        #expect(steps.next(at: .start + .nanoseconds(500 * millisecond), leaving: 2, open: 2, lingering: 2) == .end)
        #expect(steps.isClean)
    }
}

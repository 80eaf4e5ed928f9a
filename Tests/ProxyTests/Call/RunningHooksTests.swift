import Protocols
import Testing

@testable import Proxy

@Suite struct RunningHooksTests {
    @Test func `what is resumed while no hook runs is looked at, at once`() {
        var hooks = RunningHooks()
        let isNow = hooks.mayDrain(.request, 3)
        #expect(isNow)
        hooks.enter()
        let resumed = hooks.leave()
        #expect(resumed.isEmpty)
    }

    @Test func `what a hook resumes is looked at when the outermost is over, in its order and once`() {
        var hooks = RunningHooks()
        hooks.enter()
        hooks.enter()
        let areNow = [hooks.mayDrain(.response, 2), hooks.mayDrain(.request, 1)]
        #expect(areNow == [false, false])
        let within = hooks.leave()
        #expect(within.isEmpty)
        let resumed = hooks.leave()
        #expect(resumed.map(\.0) == [.response, .request] && resumed.map(\.1) == [2, 1])
        hooks.enter()
        let again = hooks.leave()
        #expect(again.isEmpty)
    }
}

import Events
import Glibc
import Testing

@Suite(.serialized) struct SignalsTests {
    @Test func `signals are told on the loop, and SIGPIPE does nothing`() {
        let loop = EventLoop()
        let told = Told()
        let signals = Signals([SIGUSR1, SIGUSR2], on: loop) { told.numbers.append($0) }
        withExtendedLifetime(signals) {
            kill(getpid(), SIGPIPE)
            kill(getpid(), SIGUSR1)
            while told.numbers.count < 1 { loop.turn() }
            kill(getpid(), SIGUSR2)
            while told.numbers.count < 2 { loop.turn() }
            kill(getpid(), SIGUSR1)
            while told.numbers.count < 3 { loop.turn() }
        }
        #expect(told.numbers == [SIGUSR1, SIGUSR2, SIGUSR1])
    }
}

private final class Told {
    var numbers: [Int32] = []
}

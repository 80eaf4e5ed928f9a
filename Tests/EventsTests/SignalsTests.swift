import Events
import Glibc
import Testing

@Suite(.serialized) struct SignalsTests {
    @Test func `signals are reported on the loop, and SIGPIPE does nothing`() {
        let loop = EventLoop()
        let reported = Reported()
        let signals = Signals([SIGUSR1, SIGUSR2], on: loop) { reported.numbers.append($0) }
        withExtendedLifetime(signals) {
            kill(getpid(), SIGPIPE)
            kill(getpid(), SIGUSR1)
            while reported.numbers.count < 1 { loop.turn() }
            kill(getpid(), SIGUSR2)
            while reported.numbers.count < 2 { loop.turn() }
            kill(getpid(), SIGUSR1)
            while reported.numbers.count < 3 { loop.turn() }
        }
        #expect(reported.numbers == [SIGUSR1, SIGUSR2, SIGUSR1])
    }
}

private final class Reported {
    var numbers: [Int32] = []
}

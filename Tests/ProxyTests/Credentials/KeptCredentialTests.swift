import Bytes
import Events
import RPC
import Testing

@testable import Proxy

/// When a credential is fetched, and what is known of it meanwhile; it comes from a file that the test writes.
@Suite struct KeptCredentialTests {
    /// A keeper of one credential, what it has told, and the clock that it goes by.
    private final class Stand {
        let clock = ManualClock(now: 1000 * .second)
        let loop: EventLoop
        let file = TemporaryFile([])
        var told: [(state: CredentialState, failure: CredentialError?)] = []
        private(set) var kept: KeptCredential!

        init(isNamed: Bool = true, _ content: String = "") {
            loop = EventLoop(clock: .manual(clock))
            write(content)
            kept = KeptCredential(
                .file(file.path),
                refreshAhead: 30 * .second,
                loop: loop,
                fetcher: Fetcher(loop: loop),
                random: { 0 },
                changed: { [unowned self] in told.append(($0, $1)) }
            )
            kept.isNamed = isNamed
        }

        func write(_ content: String) { file.write(Array(content.utf8)) }

        /// Lets time pass in steps of five milliseconds, and notes at which ones of them a fetch failed.
        @discardableResult
        func pass(_ time: Nanoseconds) -> [Nanoseconds] {
            var failures: [Nanoseconds] = []
            let end = clock.now + time
            while clock.now < end {
                let before = kept.failed
                clock.now += min(5 * .millisecond, end - clock.now)
                loop.turn(waiting: false)
                if kept.failed > before { failures.append(clock.now) }
            }
            return failures
        }

        var value: String? { kept.state.credential.map { $0.value.span.string } }
    }

    /// A token that says when it ends.
    private func jwt(endingIn seconds: Int) -> String {
        let queue = ByteQueue()
        let claims = #"{"exp":\#(Int(Clock.wall / .second) + seconds)}"#
        queue.append(base64: Array(claims.utf8).span, padded: false)
        return "e30.\(queue.readable.string).c2ln"
    }

    @Test func `pauses between failures grow, and wants in between change nothing`() {
        let stand = Stand()
        stand.kept.fetchIfNeeded()
        #expect(stand.kept.failed == 1)
        for _ in 1...3 { stand.kept.want() }
        #expect(stand.kept.failed == 1)
        let start = stand.clock.now
        let failures = stand.pass(9 * .second)
        let pauses = zip(failures, [start] + failures).map { ($0 - $1) / .millisecond }
        #expect(pauses.count == 6)
        for (pause, expected) in zip(pauses, [125, 250, 500, 1000, 2000, 4000]) {
            #expect(pause >= expected && pause <= expected + 20, "\(pauses)")
        }
        stand.write("one")
        stand.pass(9 * .second)
        #expect(stand.value == "one")
        #expect(stand.kept.succeeded == 1)
        #expect(stand.told.last?.failure == nil)
    }

    @Test func `one that nobody has named is fetched only while it is wanted`() {
        let stand = Stand(isNamed: false)
        stand.kept.want()
        #expect(stand.kept.failed == 1)
        #expect(stand.pass(60 * .second) == [])
        stand.kept.want()
        #expect(stand.kept.failed == 2)
        stand.kept.want()
        #expect(stand.kept.failed == 2)
        #expect(stand.pass(60 * .second).count == 1)
    }

    @Test func `the last good one is kept while others cannot be had`() {
        let stand = Stand(jwt(endingIn: 100))
        let first = jwt(endingIn: 100)
        stand.kept.fetchIfNeeded()
        #expect(stand.value == first)
        stand.write("")
        #expect(stand.pass(69 * .second) == [])
        #expect(!stand.pass(3 * .second).isEmpty)
        #expect(stand.value == first)
        #expect(stand.told.last?.failure != nil)
        #expect(stand.told.last?.state.credential != nil)
        stand.write("two")
        stand.pass(10 * .second)
        #expect(stand.value == "two")
        #expect(stand.kept.state.failure == nil)
    }

    @Test func `one that has ended is kept no longer`() {
        let stand = Stand(jwt(endingIn: -5))
        stand.kept.fetchIfNeeded()
        stand.write("")
        stand.pass(.second)
        #expect(stand.value == nil)
    }

    // MARK: Refusals

    @Test func `a refused value is fetched anew, and another is not`() {
        let stand = Stand("one")
        stand.kept.fetchIfNeeded()
        stand.write("two")
        stand.kept.refused(Array("zero".utf8))
        #expect(stand.value == "one")
        stand.kept.refused(Array("one".utf8))
        #expect(stand.value == "two")
        #expect(stand.kept.succeeded == 2)
    }

    @Test func `rejections of an upstream are believed five times, and then once in ten seconds`() {
        let stand = Stand("one")
        stand.kept.fetchIfNeeded()
        for _ in 1...20 { stand.kept.refused(Array("one".utf8)) }
        #expect(stand.kept.succeeded == 6)
        // Whoever does not believe says what there is.
        #expect(stand.told.count == 21)
        #expect(stand.told.last?.state.credential != nil)
        // However often they come.
        for _ in 1...40 {
            stand.pass(.second)
            stand.kept.refused(Array("one".utf8))
        }
        #expect(stand.kept.succeeded == 10)
        stand.pass(100 * .second)
        for _ in 1...20 { stand.kept.refused(Array("one".utf8)) }
        #expect(stand.kept.succeeded == 15)
    }

    @Test func `an upstream that rejects everything takes nothing from another`() {
        let stand = Stand("one")
        stand.kept.fetchIfNeeded()
        for _ in 1...20 { stand.kept.refused(Array("one".utf8), by: "bad") }
        #expect(stand.kept.succeeded == 6)
        for _ in 1...5 { stand.kept.refused(Array("one".utf8), by: "good") }
        #expect(stand.kept.succeeded == 11)
        stand.kept.refused(Array("one".utf8), by: "bad")
        #expect(stand.kept.succeeded == 11)
    }

    @Test func `an upstream that accepts what was fetched is believed again, once in a second`() {
        let stand = Stand("one")
        stand.kept.fetchIfNeeded()
        for _ in 1...100 {
            stand.kept.refused(Array("one".utf8))
            stand.kept.accepted(by: "")
            stand.pass(.second)
        }
        #expect(stand.kept.succeeded == 101)
        // Its replicas disagree: one rejects what the other accepts.
        for _ in 1...100 {
            stand.kept.refused(Array("one".utf8))
            stand.kept.accepted(by: "")
        }
        #expect(stand.kept.succeeded <= 101 + 6)
        // What is accepted elsewhere says nothing of this one.
        stand.kept.accepted(by: "other")
        stand.kept.refused(Array("one".utf8))
        #expect(stand.kept.succeeded <= 101 + 6)
    }

    @Test func `a rejected value stays for others while another is fetched`() {
        let loop = EventLoop()
        let gate = TemporaryFile([])
        var told: [CredentialState] = []
        let script = "while [ ! -s \(gate.path) ]; do sleep 0.01; done; cat \(gate.path)"
        let source = CredentialSource.exec(
            ExecSource(command: ["/bin/sh", "-c", script], environment: [:], response: .text, timeout: 60 * .second)
        )
        let keeper = CredentialKeeper(loop: loop, fetcher: Fetcher(loop: loop)) {
            told.append($1)
        } tell: { _ in
        }
        gate.write(Array("one".utf8))
        keeper.take(.want(source))
        while told.isEmpty { loop.turn() }
        gate.write([])
        keeper.take(.refused(source, value: Array("one".utf8), by: "bad"))
        #expect(keeper.report(on: source)?.isFetching == true)
        #expect(keeper.report(on: source)?.state.credential?.value == Array("one".utf8))
        #expect(keeper.report(on: source)?.state.isDoubted == true)
        // Whoever asks meanwhile is told when the fetch is over, and not before: workers ask again whenever they are told.
        keeper.take(.refused(source, value: Array("one".utf8), by: "worse"))
        keeper.take(.want(source))
        #expect(told.count == 1)
        gate.write(Array("two".utf8))
        while told.count < 2 { loop.turn() }
        #expect(told.last?.credential?.value == Array("two".utf8))
        #expect(told.last?.isDoubted == false)
    }

    @Test(arguments: [true, false])
    func `a refused value stays if no other can be had, and that is retried`(_ isNamed: Bool) {
        let stand = Stand(isNamed: isNamed, "one")
        stand.kept.fetchIfNeeded()
        stand.write("")
        stand.kept.refused(Array("one".utf8))
        #expect(stand.value == "one")
        #expect(stand.told.last?.failure != nil)
        // Refusals do not have it fetched sooner.
        for _ in 1...3 { stand.kept.refused(Array("one".utf8)) }
        #expect(stand.kept.failed == 1)
        #expect(stand.told.last?.state.credential != nil)
        stand.write("two")
        stand.pass(.second)
        #expect(stand.value == "two")
    }

    @Test func `a refused value that has ended does not come back`() {
        let stand = Stand(jwt(endingIn: 2))
        stand.kept.fetchIfNeeded()
        let value = Array(stand.value!.utf8)
        stand.write("")
        stand.kept.refused(value)
        #expect(stand.value != nil)
        while stand.kept.state.credential?.expiry ?? 0 > Clock.wall { stand.pass(100 * .millisecond) }
        stand.kept.want()
        stand.pass(RefreshSchedule.maxBackOff)
        #expect(stand.value == nil)
    }

    @Test func `whoever wants one that is no good is told when there is another`() {
        let stand = Stand(jwt(endingIn: 1))
        stand.kept.fetchIfNeeded()
        while stand.kept.state.usableUntil > Clock.wall { stand.pass(.millisecond) }
        stand.write("")
        let told = stand.told.count
        // Who waits asks again whenever it is told: a response to each would never end.
        for _ in 1...10 { stand.kept.want() }
        #expect(stand.told.count <= told + 1)
    }
}

/// The keeper of all credentials, with programs as their sources.
@Suite struct CredentialKeeperTests {
    private func source(_ script: String) -> CredentialSource {
        .exec(ExecSource(command: ["/bin/sh", "-c", script], environment: [:], response: .text, timeout: 60 * .second))
    }

    @Test func `whoever wants a credential, it is fetched once`() {
        let loop = EventLoop()
        let count = TemporaryFile([])
        var told: [(source: CredentialSource, state: CredentialState)] = []
        let keeper = CredentialKeeper(loop: loop, fetcher: Fetcher(loop: loop)) {
            told.append(($0, $1))
        } tell: { _ in
        }
        let source = source("echo x >> \(count.path); echo token; wc -l < \(count.path) >&2")
        for _ in 1...5 { keeper.take(.want(source)) }
        #expect(keeper.report(on: source)?.isFetching == true)
        while told.isEmpty { loop.turn() }
        for _ in 1...5 { keeper.take(.want(source)) }
        #expect(keeper.report(on: source)?.succeeded == 1)
        #expect(keeper.report(on: source)?.isFetching == false)
        #expect(told.count == 6)
        #expect(told.allSatisfy { $0.source == source && $0.state.credential?.value == Array("token".utf8) })
    }

    @Test func `a program that fails is told of, without what it wrote`() {
        let loop = EventLoop()
        var notices: [Notice] = []
        let keeper = CredentialKeeper(loop: loop, fetcher: Fetcher(loop: loop)) { _, _ in
        } tell: {
            notices.append($0)
        }
        let source = source("echo secret; exit 3")
        keeper.take(.want(source))
        while notices.isEmpty { loop.turn() }
        #expect("\(notices)".contains("/bin/sh ended with status 3"))
        #expect(!"\(notices)".contains("secret"))
        #expect(keeper.report(on: source)?.failed == 1)
    }

    @Test func `what cannot be fetched is not fetched, and nobody is told`() {
        let loop = EventLoop()
        var told: [CredentialState] = []
        let keeper = CredentialKeeper(loop: loop, fetcher: Fetcher(loop: loop)) {
            told.append($1)
        } tell: { _ in
        }
        keeper.take(.want(.file("/nowhere")))
        #expect(told.isEmpty)
        #expect(keeper.report(on: .file("/nowhere")) == nil)
    }
}

extension KeptCredential {
    /// The only upstream there is has rejected a value.
    fileprivate func refused(_ value: [UInt8]) { refused(value, by: "") }
}

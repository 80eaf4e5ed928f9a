import Bytes
import Documents
import Events
import Policy
import RPC
import Testing
import Time

@testable import Credentials
@testable import Proxy

/// When a credential is fetched, and what is known of it meanwhile; it comes from a file that the test writes.
@Suite struct ManagedCredentialTests {
    /// A keeper of one credential, what it has told, and the clock that it goes by.
    private final class Stand {
        let clock = ManualClock(now: .start + 1000 * .second)
        let loop: EventLoop
        let file = TemporaryFile([])
        var reported: [(state: CredentialState, error: CredentialError?)] = []
        private(set) var kept: ManagedCredential!
        private let isNamed: Bool

        init(isNamed: Bool = true, _ content: String = "") {
            self.isNamed = isNamed
            clock.wall = Clock.system.wall
            loop = EventLoop(clock: .manual(clock))
            write(content)
            kept = ManagedCredential(
                .file(file.path),
                loop: loop,
                fetcher: Fetcher(loop: loop),
                random: { 0 },
                onChange: { [unowned self] in reported.append(($0, $1)) }
            )
        }

        /// Has it fetched for the first time, as a configuration or a call does.
        func begin() {
            isNamed ? kept.name(refreshAhead: 30 * .second) : kept.request()
        }

        func write(_ content: String) { file.write(Array(content.utf8)) }

        /// Lets time pass in steps of five milliseconds, and notes at which ones of them a fetch failed.
        @discardableResult
        func pass(_ time: Duration) -> [Instant] {
            var errors: [Instant] = []
            let end = clock.now + time
            while clock.now < end {
                let before = kept.failed
                let step = min(5 * .millisecond, end - clock.now)
                clock.now += step
                clock.wall = clock.wall.map { $0 + step }
                loop.turn(waiting: false)
                if kept.failed > before { errors.append(clock.now) }
            }
            return errors
        }

        var value: String? { kept.state.credential.map { $0.value.span.string } }
    }

    /// A token that says when it ends.
    private func jwt(endingIn seconds: Int) -> String {
        let queue = ByteQueue()
        let claims = #"{"exp":\#(Clock.system.wall.secondsAndNanoseconds.seconds + seconds)}"#
        queue.append(base64: Array(claims.utf8).span, padded: false)
        return "e30.\(queue.readable.string).c2ln"
    }

    @Test func `pauses between errors grow, and wants in between change nothing`() {
        let stand = Stand()
        stand.begin()
        #expect(stand.kept.failed == 1)
        for _ in 1...3 { stand.kept.request() }
        #expect(stand.kept.failed == 1)
        let start = stand.clock.now
        let errors = stand.pass(9 * .second)
        let pauses = zip(errors, [start] + errors).map { ($0 - $1) / .millisecond }
        #expect(pauses.count == 6)
        for (pause, expected) in zip(pauses, [125, 250, 500, 1000, 2000, 4000]) {
            #expect(pause >= expected && pause <= expected + 20, "\(pauses)")
        }
        stand.write("one")
        stand.pass(9 * .second)
        #expect(stand.value == "one")
        #expect(stand.kept.succeeded == 1)
        #expect(stand.reported.last?.error == nil)
    }

    @Test func `one that nobody has named is fetched only while it is expected`() {
        let stand = Stand(isNamed: false)
        stand.kept.request()
        #expect(stand.kept.failed == 1)
        #expect(stand.pass(60 * .second) == [])
        stand.kept.request()
        #expect(stand.kept.failed == 2)
        stand.kept.request()
        #expect(stand.kept.failed == 2)
        #expect(stand.pass(60 * .second).count == 1)
    }

    @Test func `the last good one is kept while others cannot be had`() {
        let stand = Stand(jwt(endingIn: 100))
        let first = jwt(endingIn: 100)
        stand.begin()
        #expect(stand.value == first)
        stand.write("")
        #expect(stand.pass(69 * .second) == [])
        #expect(!stand.pass(3 * .second).isEmpty)
        #expect(stand.value == first)
        #expect(stand.reported.last?.error != nil)
        #expect(stand.reported.last?.state.credential != nil)
        stand.write("two")
        stand.pass(10 * .second)
        #expect(stand.value == "two")
        #expect(stand.kept.state.error == nil)
    }

    @Test func `one that has ended is kept no longer`() {
        let stand = Stand(jwt(endingIn: -5))
        stand.begin()
        stand.write("")
        stand.pass(.second)
        #expect(stand.value == nil)
    }

    // MARK: Rejections

    @Test func `a rejected value is fetched anew, and another is not`() {
        let stand = Stand("one")
        stand.begin()
        stand.write("two")
        stand.kept.rejected(Array("zero".utf8))
        #expect(stand.value == "one")
        stand.kept.rejected(Array("one".utf8))
        #expect(stand.value == "two")
        #expect(stand.kept.succeeded == 2)
    }

    @Test func `rejections of an upstream are believed five times, and then once in ten seconds`() {
        let stand = Stand("one")
        stand.begin()
        for _ in 1...20 { stand.kept.rejected(Array("one".utf8)) }
        #expect(stand.kept.succeeded == 6)
        // Whoever does not believe says what there is.
        #expect(stand.reported.count == 21)
        #expect(stand.reported.last?.state.credential != nil)
        // However often they come.
        for _ in 1...40 {
            stand.pass(.second)
            stand.kept.rejected(Array("one".utf8))
        }
        #expect(stand.kept.succeeded == 10)
        stand.pass(100 * .second)
        for _ in 1...20 { stand.kept.rejected(Array("one".utf8)) }
        #expect(stand.kept.succeeded == 15)
    }

    @Test func `an upstream that rejects everything takes nothing from another`() {
        let stand = Stand("one")
        stand.begin()
        for _ in 1...20 { stand.kept.rejected(Array("one".utf8), by: "bad") }
        #expect(stand.kept.succeeded == 6)
        for _ in 1...5 { stand.kept.rejected(Array("one".utf8), by: "good") }
        #expect(stand.kept.succeeded == 11)
        stand.kept.rejected(Array("one".utf8), by: "bad")
        #expect(stand.kept.succeeded == 11)
    }

    @Test func `an upstream that accepts what was fetched is believed again, once in a second`() {
        let stand = Stand("one")
        stand.begin()
        for _ in 1...100 {
            stand.kept.rejected(Array("one".utf8))
            stand.kept.accepted(by: "")
            stand.pass(.second)
        }
        #expect(stand.kept.succeeded == 101)
        // Its replicas disagree: one rejects what the other accepts.
        for _ in 1...100 {
            stand.kept.rejected(Array("one".utf8))
            stand.kept.accepted(by: "")
        }
        #expect(stand.kept.succeeded <= 101 + 6)
        // What is accepted elsewhere says nothing of this one.
        stand.kept.accepted(by: "other")
        stand.kept.rejected(Array("one".utf8))
        #expect(stand.kept.succeeded <= 101 + 6)
    }

    @Test func `a rejected value stays for others while another is fetched`() {
        let loop = EventLoop()
        let gate = TemporaryFile([])
        var reported: [CredentialState] = []
        let script = "while [ ! -s \(gate.path) ]; do sleep 0.01; done; cat \(gate.path)"
        let source = CredentialSource.exec(
            ExecSource(command: ["/bin/sh", "-c", script], environment: [:], response: .text, timeout: 60 * .second)
        )
        let keeper = CredentialManager(loop: loop, fetcher: Fetcher(loop: loop)) {
            reported.append($1)
        } log: { _ in
        }
        gate.write(Array("one".utf8))
        keeper.handle(.fetch(source))
        while reported.isEmpty { loop.turn() }
        gate.write([])
        keeper.handle(.rejected(source, value: Array("one".utf8), CredentialRejection(by: "bad")))
        #expect(keeper.report(on: source)?.isFetching == true)
        #expect(keeper.report(on: source)?.state.credential?.value == Array("one".utf8))
        #expect(keeper.report(on: source)?.state.isSuspect == true)
        // Whoever asks meanwhile is told when the fetch is over, and not before: workers ask again whenever they are told.
        keeper.handle(.rejected(source, value: Array("one".utf8), CredentialRejection(by: "worse")))
        keeper.handle(.fetch(source))
        #expect(reported.count == 1)
        gate.write(Array("two".utf8))
        while reported.count < 2 { loop.turn() }
        #expect(reported.last?.credential?.value == Array("two".utf8))
        #expect(reported.last?.isSuspect == false)
    }

    @Test(arguments: [true, false])
    func `a rejected value stays if no other can be had, and that is retried`(_ isNamed: Bool) {
        let stand = Stand(isNamed: isNamed, "one")
        stand.begin()
        stand.write("")
        stand.kept.rejected(Array("one".utf8))
        #expect(stand.value == "one")
        #expect(stand.reported.last?.error != nil)
        // Rejections do not have it fetched sooner.
        for _ in 1...3 { stand.kept.rejected(Array("one".utf8)) }
        #expect(stand.kept.failed == 1)
        #expect(stand.reported.last?.state.credential != nil)
        stand.write("two")
        stand.pass(.second)
        #expect(stand.value == "two")
    }

    @Test func `a rejected value that has ended does not come back`() {
        let stand = Stand(jwt(endingIn: 2))
        stand.begin()
        let value = Array(stand.value!.utf8)
        stand.write("")
        stand.kept.rejected(value)
        #expect(stand.value != nil)
        while stand.kept.state.credential?.expiry ?? .epoch > stand.clock.wall! { stand.pass(100 * .millisecond) }
        stand.kept.request()
        stand.pass(RefreshSchedule.maxBackOff)
        #expect(stand.value == nil)
    }

    @Test func `whoever wants one that is no good is reported when there is another`() {
        let stand = Stand(jwt(endingIn: 1))
        stand.begin()
        while stand.kept.state.usableUntil > stand.clock.now { stand.pass(.millisecond) }
        stand.write("")
        let reported = stand.reported.count
        // Who waits asks again whenever it is told: a response to each would never end.
        for _ in 1...10 { stand.kept.request() }
        #expect(stand.reported.count <= reported + 1)
    }
}

/// The keeper of all credentials, with programs as their sources.
@Suite struct CredentialManagerTests {
    private func source(_ script: String) -> CredentialSource {
        .exec(ExecSource(command: ["/bin/sh", "-c", script], environment: [:], response: .text, timeout: 60 * .second))
    }

    @Test func `whoever wants a credential, it is fetched once`() {
        let loop = EventLoop()
        let count = TemporaryFile([])
        var reported: [(source: CredentialSource, state: CredentialState)] = []
        let keeper = CredentialManager(loop: loop, fetcher: Fetcher(loop: loop)) {
            reported.append(($0, $1))
        } log: { _ in
        }
        let source = source("echo x >> \(count.path); echo token; wc -l < \(count.path) >&2")
        for _ in 1...5 { keeper.handle(.fetch(source)) }
        #expect(keeper.report(on: source)?.isFetching == true)
        while reported.isEmpty { loop.turn() }
        for _ in 1...5 { keeper.handle(.fetch(source)) }
        #expect(keeper.report(on: source)?.succeeded == 1)
        #expect(keeper.report(on: source)?.isFetching == false)
        #expect(reported.count == 6)
        #expect(reported.allSatisfy { $0.source == source && $0.state.credential?.value == Array("token".utf8) })
    }

    @Test func `a program that fails is reported of, without what it wrote`() {
        let loop = EventLoop()
        var logLimiter: [LogMessage] = []
        let keeper = CredentialManager(loop: loop, fetcher: Fetcher(loop: loop)) { _, _ in
        } log: {
            logLimiter.append($0)
        }
        let source = source("echo secret; exit 3")
        keeper.handle(.fetch(source))
        while logLimiter.isEmpty { loop.turn() }
        #expect("\(logLimiter)".contains("/bin/sh exited with status 3"))
        #expect(!"\(logLimiter)".contains("secret"))
        #expect(keeper.report(on: source)?.failed == 1)
    }

    @Test(arguments: [-2 * 3600, 2 * 3600])
    func `somebody sets the system clock during a fetch: the lifetime counts all the same`(_ seconds: Int) throws {
        let clock = ManualClock(now: .start + 1000 * .second)
        let start = WallTime(secondsSince1970: 1_700_000_000)
        clock.wall = start
        let loop = EventLoop(clock: .manual(clock))
        let gate = TemporaryFile([])
        let count = TemporaryFile([])
        var reported: [CredentialState] = []
        let keeper = CredentialManager(loop: loop, fetcher: Fetcher(loop: loop)) {
            reported.append($1)
        } log: { _ in
        }
        let script = """
            echo x >> \(count.path); while [ ! -s \(gate.path) ]; do sleep 0.01; done
            echo '{"token": "one", "expires_in": 3600}'
            """
        let fields = CredentialFields(value: JSONPointer("/token")!, expiresIn: JSONPointer("/expires_in")!)
        let source = CredentialSource.exec(
            ExecSource(command: ["/bin/sh", "-c", script], environment: [:], response: .json(fields), timeout: nil)
        )
        keeper.use([NamedCredential(name: "auth", source: source, refreshAhead: 30 * .second)])
        let step = Duration.seconds(seconds)
        clock.now += 10 * .second
        clock.wall = start + 10 * .second + step
        gate.write(Array("go".utf8))
        while reported.isEmpty { loop.turn() }
        let state = try #require(reported.last)
        #expect(state.expiry == .start + 4600 * .second)
        #expect(state.credential?.expiry == start + 3600 * .second + step)
        #expect(state.refresh.map { $0 > clock.now + 3500 * .second } == true)
        // And afterwards.
        clock.wall = start - step
        for _ in 1...3500 {
            clock.now += .second
            loop.turn(waiting: false)
        }
        keeper.handle(.fetch(source))
        #expect(keeper.report(on: source)?.isFetching == false)
        #expect(keeper.report(on: source)?.isValid == true)
        #expect(reported.count == 2)
        #expect(try SmallFile.read(count.path, limit: 100).get().count == 2)
    }

    @Test func `what cannot be fetched is not fetched, and nobody is reported`() {
        let loop = EventLoop()
        var reported: [CredentialState] = []
        let keeper = CredentialManager(loop: loop, fetcher: Fetcher(loop: loop)) {
            reported.append($1)
        } log: { _ in
        }
        keeper.handle(.fetch(.file("/nowhere")))
        #expect(reported.isEmpty)
        #expect(keeper.report(on: .file("/nowhere")) == nil)
    }
}

extension ManagedCredential {
    fileprivate var state: CredentialState { machine.state }
    fileprivate var succeeded: Int { machine.succeeded }
    fileprivate var failed: Int { machine.failed }

    /// An upstream has rejected a value, which is the only one there is if it has no name.
    fileprivate func rejected(_ value: [UInt8], by upstream: String = "") {
        rejected(value, CredentialRejection(by: upstream))
    }
}

import Testing
import Time

@testable import Credentials

/// What the machine of a credential has its owner do, input by input.
@Suite struct CredentialMachineTests {
    private static let start = Instant.start + 1000 * .second
    private static let wall = WallTime(secondsSince1970: 1_700_000_000)

    /// What happens to a machine.
    private enum Input: CustomStringConvertible {
        case named
        case unnamed
        case requested
        case rejected(String, by: String = "a")
        case accepted(by: String = "a")
        /// A fetch has brought this value, which is good for so many seconds, or for ever.
        case fetched(String, Int? = nil)
        case failed
        case postponed
        case tick

        var description: String {
            switch self {
            case .named: "named"
            case .unnamed: "unnamed"
            case .requested: "requested"
            case .rejected(let value, let upstream): "rejected \(value) by \(upstream)"
            case .accepted(let upstream): "accepted by \(upstream)"
            case .fetched(let value, let lifetime): "fetched \(value) for \(lifetime.map(String.init) ?? "ever")"
            case .failed: "failed"
            case .postponed: "postponed"
            case .tick: "tick"
            }
        }
    }

    /// A machine at a time that the test sets; what it has done is said in words.
    private struct Run: ~Copyable {
        var machine = CredentialMachine()
        var now = CredentialMachineTests.start
        private var rejections: [CredentialRejection] = []

        /// An input, and its actions in words: `fetch`, `arm 30000` in milliseconds, `disarm`, `publish one`, `log`.
        mutating func perform(_ input: Input) -> String {
            words(actions(of: input))
        }

        mutating func actions(of input: Input) -> CredentialMachine.Actions {
            let wall = CredentialMachineTests.wall + (now - CredentialMachineTests.start)
            switch input {
            case .named: return machine.named(refreshAhead: 30 * .second, at: now)
            case .unnamed: return machine.unnamed()
            case .requested: return machine.requested(at: now)
            case .rejected(let value, let upstream):
                let rejection = CredentialRejection(by: upstream)
                rejections.append(rejection)
                return machine.rejected(Array(value.utf8), rejection, at: now)
            case .accepted(let upstream):
                machine.accepted(by: upstream, at: now)
                return CredentialMachine.Actions()
            case .fetched(let value, let lifetime):
                let expiry = lifetime.map { wall + .seconds($0) }
                let credential = Credential(value: Array(value.utf8), expiry: expiry)
                return machine.fetched(.success(credential), at: now, wall, random: 0)
            case .failed: return machine.fetched(.failure(CredentialError("down")), at: now, wall, random: 0)
            case .postponed: return machine.postponed(at: now)
            case .tick: return machine.tick(at: now)
            }
        }

        private func words(_ actions: CredentialMachine.Actions) -> String {
            var words: [String] = []
            switch actions.timer {
            case .keep: break
            case .arm(let time): words.append("arm \((time - now) / .millisecond)")
            case .disarm: words.append("disarm")
            }
            if actions.startsFetch { words.append("fetch") }
            if let state = actions.published {
                let value = state.credential.map { String(decoding: $0.value, as: UTF8.self) } ?? "none"
                // The rejections are named by their order.
                let decided = state.decided.map { rejection in
                    " #\((rejections.firstIndex(of: rejection) ?? -1) + 1)"
                }
                words.append("publish \(value)" + decided.joined() + (state.isSuspect ? " suspect" : ""))
            }
            if actions.logged != nil { words.append("log") }
            return words.joined(separator: ", ")
        }
    }

    /// Inputs at times, in milliseconds from the start on, and what follows from each.
    private func expect(_ table: [(Int, Input, String)], _ comment: String = "") {
        var run = Run()
        for (row, (time, input, expected)) in table.enumerated() {
            run.now = Self.start + time * .millisecond
            let found = run.perform(input)
            #expect(found == expected, "\(comment) row \(row), \(input)")
        }
    }

    // MARK: Tables

    @Test func `a named credential is fetched at once, and ahead of its end`() {
        expect([
            (0, .named, "fetch"),
            (10, .requested, ""),
            (20, .fetched("one", 100), "arm 70000, publish one"),
            (30, .requested, "publish one"),
            (50_000, .tick, "arm 20020"),
            (70_020, .tick, "fetch"),
            (70_030, .tick, ""),
            (70_040, .fetched("two"), "publish two"),
            (1_000_000, .tick, ""),
            (1_000_000, .requested, "publish two"),
        ])
    }

    @Test func `a credential that calls alone need is fetched for them, and not otherwise`() {
        expect([
            (0, .tick, ""),
            (0, .requested, "fetch"),
            (0, .requested, ""),
            (10, .fetched("one", 100), "publish one"),
            (69_000, .requested, "publish one"),
            (70_010, .requested, "fetch"),
            (70_020, .failed, "publish one, log"),
            (70_100, .requested, "arm 45"),
            (70_145, .tick, "fetch"),
            (70_150, .fetched("two", 1), "publish two"),
        ])
    }

    @Test func `one that ends before it may be fetched again is waited for`() {
        // Good for 50 ms, used for 45 of them, and fetched again after 100.
        var run = Run()
        _ = run.perform(.requested)
        let wall = Self.wall
        let credential = Credential(value: Array("one".utf8), expiry: wall + 50 * .millisecond)
        _ = run.machine.fetched(.success(credential), at: run.now, wall, random: 0)
        run.now += 46 * .millisecond
        let waits = run.perform(.requested)
        #expect(waits == "arm 54")
        run.now += 54 * .millisecond
        let fetches = run.perform(.tick)
        #expect(fetches == "fetch")
    }

    @Test func `after a fetch that failed nobody is asked before the back-off is over`() {
        expect([
            (0, .named, "fetch"),
            (0, .failed, "arm 125, publish none, log"),
            (100, .requested, "arm 25"),
            (100, .rejected("one"), "arm 25"),
            (100, .named, "arm 25"),
            (124, .tick, "arm 1"),
            (125, .tick, "fetch"),
            (130, .failed, "arm 250, publish none #1, log"),
            (380, .tick, "fetch"),
            (380, .fetched("one", 100), "arm 70000, publish one"),
            (70_380, .tick, "fetch"),
            // The next error is the first again. The value stays to its end.
            (70_380, .failed, "arm 125, publish one, log"),
            (70_400, .requested, "arm 105"),
            (70_505, .tick, "fetch"),
            (100_380, .failed, "arm 250, publish none, log"),
        ])
    }

    @Test func `the first rejection has another value fetched, and all wait for that`() {
        expect([
            (0, .named, "fetch"),
            (0, .fetched("one"), "publish one"),
            (1, .rejected("one", by: "a"), "fetch"),
            (2, .rejected("one", by: "b"), ""),
            (3, .requested, ""),
            // A reload says what there is, and decides nothing.
            (4, .named, "publish one suspect"),
            (5, .fetched("two"), "publish two #1 #2"),
            (6, .rejected("one", by: "c"), "publish two #3"),
        ])
    }

    @Test func `a rejected value stays if no other can be had`() {
        for isNamed in [true, false] {
            expect(
                [
                    (0, isNamed ? .named : .requested, "fetch"),
                    (0, .fetched("one"), "publish one"),
                    (1, .rejected("one"), "fetch"),
                    (2, .failed, "arm 125, publish one #1, log"),
                    (3, .rejected("one"), "publish one #2"),
                    (127, .tick, "fetch"),
                    (128, .fetched("one"), "publish one"),
                ],
                "named: \(isNamed)"
            )
        }
    }

    @Test func `rejections beyond the budget are decided on at once`() {
        var table: [(Int, Input, String)] = [(0, .requested, "fetch"), (0, .fetched("one"), "publish one")]
        for number in 1...5 {
            table += [(1, .rejected("one"), "fetch"), (1, .fetched("one"), "publish one #\(number)")]
        }
        table += [
            (1, .rejected("one"), "publish one #6"),
            (1, .rejected("one", by: "b"), "fetch"),
            (1, .fetched("one"), "publish one #7"),
            (2, .accepted(), ""),
            (2, .rejected("one"), "fetch"),
        ]
        expect(table)
    }

    @Test func `a fetch in progress serves rejections beyond the budget, too`() {
        var table: [(Int, Input, String)] = [(0, .requested, "fetch"), (0, .fetched("one", 1), "publish one")]
        for number in 1...5 {
            table += [(0, .rejected("one"), "fetch"), (0, .fetched("one", 1), "publish one #\(number)")]
        }
        table += [
            (1, .rejected("one"), "publish one #6"),
            (500, .requested, "fetch"),
            (510, .rejected("one"), ""),
            (520, .fetched("two", 1), "publish two #7"),
            (530, .rejected("two"), "publish two #8"),
        ]
        expect(table)
    }

    @Test func `a fetch that is postponed starts a moment later`() {
        expect([
            (0, .requested, "fetch"),
            (0, .postponed, "arm 20"),
            (10, .requested, "fetch"),
            (10, .postponed, "arm 20"),
            (30, .tick, "fetch"),
            (40, .fetched("one", 100), "publish one"),
            (50, .postponed, ""),
        ])
    }

    @Test func `one that is named no more is not kept fresh, and one that is named again is`() {
        expect([
            (0, .named, "fetch"),
            (0, .fetched("one", 100), "arm 70000, publish one"),
            (1, .unnamed, "disarm"),
            (1, .unnamed, ""),
            (2, .tick, ""),
            (1000, .named, "arm 69000, publish one"),
            (2000, .named, "publish one"),
            (2000, .unnamed, "disarm"),
            (80_000, .named, "arm 0, publish one"),
            (80_000, .tick, "fetch"),
            (80_000, .unnamed, ""),
            // Nobody needs it any more.
            (80_010, .failed, "publish one, log"),
            (80_020, .named, "arm 115, publish one"),
        ])
    }

    @Test func `a credential that calls need becomes named: it is kept fresh from now on`() {
        expect([
            (0, .requested, "fetch"),
            (0, .fetched("one", 100), "publish one"),
            (10_000, .named, "arm 60000, publish one"),
        ])
    }

    @Test func `what nobody waits for changes nothing`() {
        for input in [Input.fetched("one"), .failed, .postponed, .tick, .unnamed] { expect([(0, input, "")]) }
    }

    // MARK: Properties

    /// Where an owner of the machine would stand, which does all that the machine says.
    private struct Owner {
        var timer: Instant?
        var isFetching = false
        var fetches = 0
        var published: CredentialState?
        var decided: [CredentialRejection] = []

        mutating func perform(_ actions: CredentialMachine.Actions, at now: Instant, _ comment: Comment) {
            switch actions.timer {
            case .keep: break
            case .arm(let time):
                #expect(time >= now, comment)
                #expect(!isFetching, comment)
                timer = time
            case .disarm: timer = nil
            }
            if actions.startsFetch {
                #expect(!isFetching, comment)
                (isFetching, fetches) = (true, fetches + 1)
            }
            guard let state = actions.published else { return }
            // Values are numbers that grow.
            if let new = Self.number(state), let last = published.flatMap(Self.number) {
                #expect(new >= last, comment)
            }
            published = state
            decided += state.decided
        }

        static func number(_ state: CredentialState) -> Int? {
            state.credential.flatMap { Int(String(decoding: $0.value, as: UTF8.self)) }
        }
    }

    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    @Test(arguments: 1...200)
    func `whatever happens, and whenever`(_ seed: Int) {
        var dice = Dice(state: UInt64(seed))
        var machine = CredentialMachine()
        var owner = Owner()
        var (now, wall) = (Self.start, Self.wall)
        var (value, isNamed) = (0, false)
        var rejections: [CredentialRejection] = []
        for step in 1...300 {
            let pause = Duration.milliseconds([0, 1, 20, 500, 5000, 60_000].randomElement(using: &dice)!)
            now += pause
            wall += pause
            // Somebody sets the system clock.
            if Int.random(in: 0..<20, using: &dice) == 0 {
                wall = Self.wall + .seconds(Int.random(in: 0...100_000, using: &dice))
            }
            let input = Int.random(in: 0..<10, using: &dice)
            let comment: Comment = "seed \(seed), step \(step), input \(input)"
            let random = Double.random(in: 0..<1, using: &dice)
            let upstream = ["a", "b"].randomElement(using: &dice)!
            let actions: CredentialMachine.Actions
            switch input {
            case 0:
                isNamed = true
                actions = machine.named(refreshAhead: 30 * .second, at: now)
            case 1:
                isNamed = false
                actions = machine.unnamed()
            case 2: actions = machine.requested(at: now)
            case 3:
                rejections.append(CredentialRejection(by: upstream))
                // The value of now, as far as there is one, or the one before.
                let known = Owner.number(machine.state) ?? 0
                let old = String(Int.random(in: max(0, known - 1)...known, using: &dice))
                actions = machine.rejected(Array(old.utf8), rejections.last!, at: now)
            case 4:
                machine.accepted(by: upstream, at: now)
                actions = CredentialMachine.Actions()
            case 5 where owner.isFetching && !isNamed:
                owner.isFetching = false
                actions = machine.postponed(at: now)
            case 5, 6, 7:
                if Int.random(in: 0..<3, using: &dice) > 0 { value += 1 }
                let lifetime = [nil, 1, 10, 100, 3600].randomElement(using: &dice)!
                let credential = Credential(
                    value: Array("\(value)".utf8),
                    expiry: lifetime.map { wall + .seconds($0) }
                )
                let isError = Int.random(in: 0..<3, using: &dice) == 0
                let result: Result<Credential, CredentialError> =
                    isError ? .failure(CredentialError("down")) : .success(credential)
                owner.isFetching = false
                actions = machine.fetched(result, at: now, wall, random: random)
            default:
                // As a timer does: not before its time.
                if let timer = owner.timer, timer > now {
                    wall += timer - now
                    now = timer
                }
                owner.timer = nil
                actions = machine.tick(at: now)
            }
            owner.perform(actions, at: now, comment)
            #expect(machine.isFetching == owner.isFetching, comment)
            if !isNamed, !machine.isInUse, owner.timer != nil {
                // A timer that is left over from before the last fetch does nothing.
                let late = machine.tick(at: now + 3600 * .second)
                #expect(late == CredentialMachine.Actions(), comment)
            }
            if isNamed, machine.state.credential == nil { #expect(owner.isFetching || owner.timer != nil, comment) }
        }
        // Each rejection is decided on once, when its fetch is over at the latest.
        while !owner.isFetching, let timer = owner.timer {
            owner.timer = nil
            now = max(now, timer)
            owner.perform(machine.tick(at: now), at: now, "the last")
        }
        if owner.isFetching {
            owner.isFetching = false
            let last = Credential(value: Array("\(value)".utf8))
            owner.perform(machine.fetched(.success(last), at: now, wall, random: 0), at: now, "the last")
        }
        #expect(owner.decided.count == rejections.count, "seed \(seed)")
        #expect(rejections.allSatisfy { owner.decided.contains($0) }, "seed \(seed)")
    }

    @Test(arguments: 1...20)
    func `a burst of rejections leads to one fetch`(_ seed: Int) {
        var dice = Dice(state: UInt64(seed))
        var run = Run()
        _ = run.perform(.named)
        _ = run.perform(.fetched("one"))
        var fetches = 0
        for _ in 1...100 {
            run.now += .microseconds(Int.random(in: 0...1000, using: &dice))
            let actions = run.actions(of: .rejected("one", by: ["a", "b", "c"].randomElement(using: &dice)!))
            fetches += actions.startsFetch ? 1 : 0
            #expect(actions.published == nil)
        }
        #expect(fetches == 1)
        let last = run.actions(of: .fetched("two"))
        #expect(last.published?.decided.count == 100)
    }

    @Test(arguments: [-1_000_000, 1_000_000])
    func `the system clock has no say in when a credential ends`(_ seconds: Int) {
        var run = Run()
        _ = run.perform(.named)
        let wall = Self.wall + .seconds(seconds)
        let credential = Credential(value: Array("one".utf8), expiry: wall + 100 * .second)
        let actions = run.machine.fetched(.success(credential), at: run.now, wall, random: 0)
        #expect(actions.timer == .arm(at: run.now + 70 * .second))
        #expect(actions.published?.expiry == run.now + 100 * .second)
        #expect(actions.published?.usableUntil == run.now + 98 * .second)
    }
}

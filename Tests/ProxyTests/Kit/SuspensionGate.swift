import Glibc
import HTTP2Kit
import RPC
import Synchronization

@testable import Proxy

/// What the gates of one name have suspended, for the test to release.
final class SuspensionGate {
    private var waiting: [(event: String, suspension: Suspension)] = []
    /// The events whose suspensions were cancelled.
    private(set) var canceled: [String] = []
    /// Suspensions that have been resumed already, to be resumed again.
    private(set) var resumed: [Suspension] = []
    /// What was shown of the events that were released.
    private(set) var shown: [String] = []
    /// What tasks wait for.
    let signal = TaskGate()

    /// How many events wait.
    var count: Int { waiting.count }

    /// How many calls have been numbered.
    var calls = 0
    /// Chances, the same in each run.
    var random = SeededGenerator(seed: 1)

    /// The events that wait, in the order in which they were suspended.
    var events: [String] { waiting.map(\.event) }

    /// Suspends an event.
    func hold(_ event: String) -> Suspension {
        let suspension = Suspension()
        waiting.append((event, suspension))
        suspension.canceled = { [unowned self, unowned suspension] in
            waiting.removeAll { $0.suspension === suspension }
            canceled.append(event)
        }
        return suspension
    }

    /// Releases the first that waits, or the one with this name.
    func release(_ event: String? = nil, _ verdict: Verdict = .next) {
        if let place = waiting.firstIndex(where: { event == nil || $0.event == event }) { release(at: place, verdict) }
    }

    /// Releases the one at this place.
    func release(at place: Int, _ verdict: Verdict = .next) {
        let suspension = waiting.remove(at: place).suspension
        resumed.append(suspension)
        suspension.resume { [unowned self] in
            shown.append($0.head != nil ? "head" : $0.message != nil ? "message" : $0.end != nil ? "end" : "request")
            return verdict
        }
    }

    /// Releases all that waits now, the last first if told so.
    func releaseAll(lastFirst: Bool = false) {
        for _ in events { release(at: lastFirst ? waiting.count - 1 : 0) }
    }
}

/// Lets tasks wait until a test says so.
final class TaskGate: Sendable {
    private struct State {
        var isGiven = false
        var canceled = 0
        var threads: [pthread_t] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// How many tasks were cancelled while they waited.
    var canceled: Int { state.withLock { $0.canceled } }

    /// The threads on which tasks ran.
    var threads: [pthread_t] { state.withLock { $0.threads } }

    /// Notes the thread of a task.
    func noteThread() {
        state.withLock { $0.threads.append(pthread_self()) }
    }

    /// Waits until the signal is given, or the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isGiven = state.withLock { state in
                    if !state.isGiven { state.waiting.append(continuation) }
                    return state.isGiven
                }
                if isGiven { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.canceled += 1 }
            release()
        }
    }

    /// Gives the signal, once and for all.
    func release() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isGiven = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// The gates of a harness, by name.
final class SuspensionGates: @unchecked Sendable {
    private var gates: [String: SuspensionGate] = [:]

    subscript(_ name: String) -> SuspensionGate {
        if let gate = gates[name] { return gate }
        let new = SuspensionGate()
        gates[name] = new
        return new
    }
}

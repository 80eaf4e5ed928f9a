internal import Events
internal import Telemetry
internal import Time

/// Who looks at the calls of a worker; none while nobody does.
///
/// Belongs to the worker's thread.
final class WorkerTaps {
    private var taps: [(tap: Tap, handover: LineHandover)] = []
    /// How many readers follow the calls that end.
    private var followers = 0
    let formatter = TimestampFormatter()
    private let budget = CopyBudget()

    /// Whether nobody looks.
    var isEmpty: Bool { taps.isEmpty && followers == 0 }

    func add(_ tap: Tap, _ handover: LineHandover) { taps.append((tap, handover)) }

    func remove(_ handover: LineHandover) { taps.removeAll { $0.handover === handover } }

    func has(_ handover: LineHandover) -> Bool { taps.contains { $0.handover === handover } }

    func addFollower() { followers += 1 }

    func removeFollower() { followers -= 1 }

    /// What looks at a call whose route is known: all taps that it is for, and for those who follow calls what keeps it so
    /// that it can be repeated.
    func look(at call: Call) -> CallTap? {
        let views = taps.compactMap { tap, handover -> CallTap.View? in
            guard tap.condition.holds(for: call), let skipped = tap.admit(at: call.now) else { return nil }
            return CallTap.View(tap, handover, skipped: skipped)
        }
        guard !views.isEmpty || followers > 0 else { return nil }
        return CallTap(call, views, budget, formatter: formatter)
    }
}

extension Worker {
    /// Shows calls to a tap from now on: those that begin.
    func open(_ tap: Tap, to handover: LineHandover) { watching { $0.add(tap, handover) } }

    /// Shows no more calls to a tap, be it those under way.
    func close(_ handover: LineHandover) { watching { $0.remove(handover) } }

    /// Changes who looks at the calls.
    func watching(_ change: (WorkerTaps) -> Void) {
        let taps = taps ?? WorkerTaps()
        change(taps)
        self.taps = taps.isEmpty ? nil : taps
    }
}

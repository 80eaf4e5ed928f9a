internal import Events
internal import Telemetry
internal import Time

/// The taps that see the calls of a worker; none while nobody has opened one.
///
/// Belongs to the worker's thread.
final class WorkerTaps {
    private var taps: [(tap: Tap, handover: LineHandover)] = []
    /// How many readers follow the calls that end.
    private var followers = 0
    let formatter = TimestampFormatter()
    private let budget = CopyBudget()

    /// Whether nobody sees calls.
    var isEmpty: Bool { taps.isEmpty && followers == 0 }

    func add(_ tap: Tap, _ handover: LineHandover) { taps.append((tap, handover)) }

    func remove(_ handover: LineHandover) { taps.removeAll { $0.handover === handover } }

    func has(_ handover: LineHandover) -> Bool { taps.contains { $0.handover === handover } }

    func addFollower() { followers += 1 }

    func removeFollower() { followers -= 1 }

    /// What a call whose route is known shows: to all taps that it is for, and for those who follow calls what it takes to
    /// repeat it.
    func makeTap(for call: Call) -> CallTap? {
        let views = taps.compactMap { tap, handover in
            tap.condition.holds(for: call) ? TapView(tap, handover, budget, at: call.now) : nil
        }
        guard !views.isEmpty || followers > 0 else { return nil }
        return CallTap(call, views, budget, formatter: formatter)
    }
}

extension Worker {
    /// Shows calls to a tap from now on: those that begin.
    func open(_ tap: Tap, to handover: LineHandover) { updateTaps { $0.add(tap, handover) } }

    /// Shows no more calls to a tap, be it those under way.
    func close(_ handover: LineHandover) { updateTaps { $0.remove(handover) } }

    /// Changes who sees the calls.
    func updateTaps(_ change: (WorkerTaps) -> Void) {
        let taps = taps ?? WorkerTaps()
        change(taps)
        self.taps = taps.isEmpty ? nil : taps
    }
}

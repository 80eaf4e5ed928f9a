internal import RPC
internal import Time

/// A call as one reader of a tap sees it: each event a line.
///
/// Where the reader asks for an outcome, the lines wait until that is known. Belongs to the worker's thread.
final class TapView {
    /// The most lines of a call that wait for its outcome.
    private static let maxWaiting = 1000

    let tap: Tap
    let handover: LineHandover
    private let budget: CopyBudget
    /// What waits for the outcome; none if the reader does not ask for that.
    private var waiting: [[UInt8]]?
    private var held = 0
    /// How many lines were left out.
    private var lost = 0
    /// Whether the reader has got something of the call.
    private(set) var isShown = false

    /// Makes the view of a call that a tap is for; none if the tap sees no call now.
    init?(_ tap: Tap, _ handover: LineHandover, _ budget: CopyBudget, at now: Instant) {
        (self.tap, self.handover, self.budget) = (tap, handover, budget)
        guard tap.condition.codes == 0 else {
            guard tap.admitWaiting(at: now) else { return nil }
            waiting = []
            return
        }
        if !begin(at: now) { return nil }
    }

    deinit { budget.add(-held) }

    /// Whether the outcome decides if the reader sees the call, and nothing of it needs to be kept until then.
    var isOfEndAlone: Bool { waiting != nil && !tap.showsMessages }

    /// Whether there is room for another line; if not, it counts as lost.
    func hasRoom(at now: Instant) -> Bool {
        let hasRoom =
            if let waiting { waiting.count < Self.maxWaiting && budget.room(1) > 0 } else { tap.hasRoom(at: now) }
        if !hasRoom { lost += 1 }
        return hasRoom
    }

    /// Shows an event.
    func append(_ line: [UInt8], at now: Instant) {
        guard waiting != nil else { return send(line, at: now) }
        waiting?.append(line)
        held += line.count
        budget.add(line.count)
    }

    /// Whether the reader sees the end of the call, and with it what has waited.
    func ends(with code: RPCCode, at now: Instant) -> Bool {
        guard let waiting = waiting.take() else { return true }
        guard tap.condition.codes & 1 << UInt32(code.rawValue) != 0, begin(at: now) else { return false }
        for line in waiting { send(line, at: now) }
        return true
    }

    /// Whether the tap sees one more call; tells how many it has left out before.
    private func begin(at now: Instant) -> Bool {
        guard let skipped = tap.admit(at: now) else { return false }
        isShown = true
        if skipped > 0 { handover.append(Array("{\"event\":\"skipped\",\"calls\":\(skipped)}\n".utf8)) }
        return true
    }

    private func send(_ line: [UInt8], at now: Instant) {
        if lost > 0 { handover.append(Array("{\"lost\":\(lost)}\n".utf8)) }
        lost = 0
        tap.spend(at: now)
        handover.append(line)
    }
}

internal import Events
internal import Time

/// The generations of a worker that calls go by although another has taken their place.
///
/// Belongs to the worker's thread.
final class OlderGenerations {
    private(set) var all: [Generation] = []
    private let loop: EventLoop
    private let end: ([Generation], Duration) -> Void
    private var timer: Timer?
    /// How long calls may go by a generation that a reload has replaced; nil is for ever.
    private var limit: Duration?

    /// Makes a list without any; `end` is to end the calls of generations that were replaced longer ago than allowed.
    init(on loop: EventLoop, end: @escaping ([Generation], Duration) -> Void) {
        self.loop = loop
        self.end = end
        timer = Timer(on: loop.timers) { [unowned self] in endExpired() }
    }

    /// Keeps a generation as long as calls go by it.
    func retire(_ old: Generation) {
        guard old.calls > 0 else { return }
        all.append(old)
        old.unused = { [unowned self, unowned old] in
            all.removeAll { $0 === old }
            if all.isEmpty { timer?.disarm() }
        }
    }

    /// A reload replaces all that are here; its limit counts for them, also if they were replaced before.
    func replaced(limit: Duration?) {
        for generation in all where generation.replaced == nil { generation.replaced = loop.now }
        self.limit = limit
        arm()
    }

    private func arm() {
        let times = all.filter { !$0.isExpired }.compactMap(\.replaced)
        guard let limit, let first = times.min() else {
            timer?.disarm()
            return
        }
        timer?.arm(after: max(.zero, first.adding(saturating: limit) - loop.now))
    }

    private func endExpired() {
        guard let limit else { return }
        let expired = all.filter { !$0.isExpired && ($0.replaced.map { loop.now - $0 >= limit } ?? false) }
        // Calls that nobody waits for may outlive this, for as long as they may take anyway.
        for generation in expired { generation.isExpired = true }
        end(expired, limit)
        arm()
    }
}

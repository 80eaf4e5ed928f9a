/// Who waits for which reload: one is on its way to the workers, and what is asked for meanwhile is one more after it.
///
/// Pure: who has loaded the file hands it to the workers, and tells those that are given back here.
struct ReloadQueue {
    /// Who waits for the reload that is on its way.
    private var current: Daemon.ReloadCompletion?
    /// Who waits for the next; nil where none is on its way.
    private var waiting: [Daemon.ReloadCompletion]?
    /// The file has changed while a worker was stuck.
    private var isDue = false

    /// Whether a configuration is on its way to the workers.
    var isUnderWay: Bool { waiting != nil }

    /// A configuration sets out to the workers.
    mutating func begin() {
        waiting = []
    }

    /// Says who waits for the reload that has set out.
    mutating func wait(_ then: @escaping Daemon.ReloadCompletion) {
        current = then
    }

    /// Waits behind the reload that is on its way.
    ///
    /// - Returns: whether there is one.
    mutating func waitBehind(_ then: @escaping Daemon.ReloadCompletion) -> Bool {
        waiting?.append(then) != nil
    }

    /// All workers go by the configuration.
    ///
    /// - Returns: who waits for another reload now.
    mutating func end() -> [Daemon.ReloadCompletion] {
        waiting.take() ?? []
    }

    /// The reload has become effective.
    mutating func succeed() -> Daemon.ReloadCompletion? {
        current.take()
    }

    /// Nobody waits any more, since a worker is stuck.
    ///
    /// - Returns: who has waited.
    mutating func abandon() -> [Daemon.ReloadCompletion] {
        let abandoned = [current.take()].compactMap { $0 } + (waiting ?? [])
        if !abandoned.isEmpty { waiting = [] }
        return abandoned
    }

    /// The file has changed: whether that is for later, as a worker is stuck.
    mutating func note(isDue: Bool) {
        self.isDue = isDue
    }

    /// No worker is stuck any more.
    ///
    /// - Returns: whether the file has changed meanwhile.
    mutating func takeDue() -> Bool {
        defer { isDue = false }
        return isDue
    }
}

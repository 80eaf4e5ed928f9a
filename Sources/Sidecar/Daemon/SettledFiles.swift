internal import Configuration
internal import Events
internal import Time

/// Files that are watched, and told of when they have changed and been left in peace for a moment.
///
/// inotify tells of most changes at once; what it cannot see is found by looking every ten seconds. The moment is there
/// so that a file is not read half-written, and files that belong together have all been changed.
final class SettledFiles: Watcher {
    private static let pollInterval = 10 * Duration.second
    private static let calm = 50 * Duration.millisecond
    /// Files that are never left in peace are told of after this time all the same.
    private static let maxWait = 500 * Duration.millisecond

    private let loop: EventLoop
    private let files = FileWatch()
    private let log: OperationalLog
    private let changed: (_ paths: [String]) -> Void
    private var paths: Set<String> = []
    /// Those that have changed and are told of soon.
    private(set) var unsettled: Set<String> = []
    /// Files that are told of once more at the next look, changed or not.
    private var doubtful: Set<String> = []
    private var unsettledSince = Instant.start
    private var watch: Watch?
    private var pollTimer: Timer?
    private var calmTimer: Timer?

    /// Starts to watch; `changed` is told the paths in alphabetical order.
    init(loop: EventLoop, log: OperationalLog, changed: @escaping ([String]) -> Void) {
        self.loop = loop
        self.log = log
        self.changed = changed
        if let descriptor = files.descriptor {
            watch = Watch(descriptor, on: loop, for: self)
            watch?.watchesRead = true
        }
        if let limitation = files.limitation { log.log(.warn, "watching files by polling", ("reason", limitation)) }
        calmTimer = Timer(on: loop.timers) { [unowned self] in notify() }
        pollTimer = Timer(on: loop.timers) { [unowned self] in
            note(files.poll() + doubtful.sorted())
            pollTimer?.arm(after: Self.pollInterval)
        }
        pollTimer?.arm(after: Self.pollInterval)
    }

    /// Watches no more; the files are told of no more.
    func end() {
        pollTimer?.cancel()
        calmTimer?.cancel()
        watch?.end()
    }

    /// Watches these files from now on, and no others.
    ///
    /// - Returns: those that were not watched before.
    func use(_ expected: Set<String>) -> Set<String> {
        let new = expected.subtracting(paths)
        for path in paths.subtracting(expected) { files.unwatch(path) }
        for path in new where !files.watch(path) { log.log(.warn, "too many files to watch", ("file", path)) }
        paths = expected
        unsettled.formIntersection(expected)
        doubtful.formIntersection(expected)
        return new
    }

    /// Tells of a file once more at the next look: it could not be read, and nothing about it need change for that to end.
    func checkAgain(at path: String) {
        doubtful.insert(path)
    }

    /// Tells of a file soon, changed or not: it may have changed before it was watched.
    func checkSoon(at path: String) {
        note([path])
    }

    /// Looks at a file now, as there is a reason to think that it has changed.
    ///
    /// - Returns: whether it is told of soon.
    func check(at path: String) -> Bool {
        if files.poll(path) || doubtful.contains(path) { note([path]) }
        return unsettled.contains(path)
    }

    func readable() {
        note(files.descriptorReadable())
    }

    func writable() {}

    private func note(_ touched: [String]) {
        let touched = touched.filter { paths.contains($0) }
        guard !touched.isEmpty else { return }
        if unsettled.isEmpty { unsettledSince = loop.now }
        unsettled.formUnion(touched)
        calmTimer?.arm(at: min(loop.now + Self.calm, unsettledSince + Self.maxWait))
    }

    private func notify() {
        let settled = unsettled.sorted()
        unsettled = []
        doubtful.subtract(settled)
        changed(settled)
    }
}

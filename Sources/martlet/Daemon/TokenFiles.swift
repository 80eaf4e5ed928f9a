internal import Configuration
internal import Events
internal import Proxy

/// The files that tokens come from: reads them, and again when they change.
///
/// inotify tells of most changes at once; what it cannot see is found by looking every ten seconds. A file that changes
/// is left in peace for a moment before it is read, so that it is not read half-written; while it has nothing in it
/// that could be a token, the one before is kept. Only a file that is gone takes its token with it.
final class TokenFiles: Watcher {
    private static let pollInterval = 10 * Nanoseconds.second
    private static let calm = 50 * Nanoseconds.millisecond
    /// A file that is never left in peace is read after this time all the same.
    private static let longestWait = 500 * Nanoseconds.millisecond

    private let loop: EventLoop
    private let files = FileWatch()
    private let log: OperationalLog
    private let changed: (_ path: String, _ token: [UInt8]?) -> Void
    /// The watched files and their tokens.
    private var tokens: [String: [UInt8]?] = [:]
    private var unsettled: Set<String> = []
    private var unsettledSince: Nanoseconds = 0
    private var watch: Watch?
    private var pollTimer: Timer?
    private var calmTimer: Timer?

    /// Starts to watch; `changed` is told of every file that has another token.
    init(loop: EventLoop, log: OperationalLog, changed: @escaping (String, [UInt8]?) -> Void) {
        self.loop = loop
        self.log = log
        self.changed = changed
        if let descriptor = files.descriptor {
            watch = Watch(descriptor, on: loop, for: self)
            watch?.wantsRead = true
        }
        if let limitation = files.limitation { log.log(.warn, "files are polled", ("reason", limitation)) }
        calmTimer = Timer(on: loop.timers) { [unowned self] in readUnsettled() }
        pollTimer = Timer(on: loop.timers) { [unowned self] in
            note(files.poll())
            pollTimer?.arm(after: Self.pollInterval)
        }
        pollTimer?.arm(after: Self.pollInterval)
    }

    /// Watches these files from now on, and no others.
    ///
    /// - Returns: the token of each file, or nil where there is none.
    func use(_ paths: [String]) -> [String: [UInt8]?] {
        for path in Set(tokens.keys).subtracting(paths) {
            files.unwatch(path)
            tokens[path] = nil
        }
        for path in paths where tokens[path] == nil {
            if !files.watch(path) { log.log(.warn, "too many files to watch", ("file", path)) }
            tokens.updateValue(read(path, before: nil), forKey: path)
        }
        return tokens
    }

    func readable() {
        note(files.descriptorReadable())
    }

    func writable() {}

    private func note(_ paths: [String]) {
        let changed = paths.filter { tokens.keys.contains($0) }
        guard !changed.isEmpty else { return }
        if unsettled.isEmpty { unsettledSince = loop.now }
        unsettled.formUnion(changed)
        calmTimer?.arm(at: min(loop.now + Self.calm, unsettledSince + Self.longestWait))
    }

    private func readUnsettled() {
        let paths = unsettled
        unsettled = []
        for path in paths.sorted() {
            guard let before = tokens[path] else { continue }
            let token = read(path, before: before)
            guard token != before else { continue }
            tokens.updateValue(token, forKey: path)
            if token != nil { log.log(.info, "token changed", ("file", path)) }
            changed(path, token)
        }
    }

    private func read(_ path: String, before: [UInt8]?) -> [UInt8]? {
        switch SmallFile.read(path, limit: TokenText.limit) {
        case .failure(let error):
            log.log(.warn, "no token", ("file", path), ("reason", error.text))
            return nil
        case .success(let content):
            if let token = TokenText.token(in: content) { return token }
            log.log(.warn, "no token", ("file", path), ("reason", "empty, or not fit for a header"))
            return before
        }
    }
}

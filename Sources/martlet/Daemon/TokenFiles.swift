internal import Configuration
internal import Events
internal import Proxy

/// The files that tokens come from: reads them, and again when they change.
///
/// inotify tells of most changes at once; what it cannot see is found by looking every ten seconds.
final class TokenFiles: Watcher {
    private static let pollInterval = 10 * Nanoseconds.second

    private let files = FileWatch()
    private let log: OperationalLog
    private let changed: (_ path: String, _ token: [UInt8]?) -> Void
    private var watched: Set<String> = []
    private var watch: Watch?
    private var timer: Timer?

    /// Starts to watch; `changed` is told of every file that has another content.
    init(loop: EventLoop, log: OperationalLog, changed: @escaping (String, [UInt8]?) -> Void) {
        self.log = log
        self.changed = changed
        if let descriptor = files.descriptor {
            watch = Watch(descriptor, on: loop, for: self)
            watch?.wantsRead = true
        }
        if let limitation = files.limitation { log.log(.warn, "files are polled", ("reason", limitation)) }
        timer = Timer(on: loop.timers) { [unowned self] in
            tell(files.poll())
            timer?.arm(after: Self.pollInterval)
        }
        timer?.arm(after: Self.pollInterval)
    }

    /// Watches these files from now on, and no others.
    ///
    /// - Returns: the token of each file, or nil where there is none.
    func use(_ paths: [String]) -> [String: [UInt8]?] {
        for path in watched.subtracting(paths) { files.unwatch(path) }
        for path in Set(paths).subtracting(watched) where !files.watch(path) {
            log.log(.warn, "too many files to watch", ("file", path))
        }
        watched = Set(paths)
        return Dictionary(paths.map { ($0, read($0)) }) { first, _ in first }
    }

    func readable() {
        tell(files.descriptorReadable())
    }

    func writable() {}

    private func tell(_ paths: [String]) {
        for path in paths where watched.contains(path) {
            let token = read(path)
            if token != nil { log.log(.info, "token changed", ("file", path)) }
            changed(path, token)
        }
    }

    private func read(_ path: String) -> [UInt8]? {
        switch SmallFile.read(path, limit: TokenText.limit) {
        case .failure(let error):
            log.log(.warn, "no token", ("file", path), ("reason", error.text))
            return nil
        case .success(let content):
            let token = TokenText.token(in: content)
            if token == nil { log.log(.warn, "no token", ("file", path), ("reason", "empty, or not fit for a header")) }
            return token
        }
    }
}

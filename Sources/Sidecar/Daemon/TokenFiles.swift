internal import Configuration
internal import Credentials
internal import Events
private import Glibc
internal import Proxy
internal import Telemetry
internal import Time

/// The files that tokens come from: reads them, and again when they change.
///
/// While a file cannot be read, or has nothing in it that could be a token, the one before is kept. Only a file that is
/// gone takes its token with it.
final class TokenFiles {
    private let loop: EventLoop
    private let log: OperationalLog
    private let changed: (_ path: String, _ token: [UInt8]?, _ decided: [CredentialRejection]) -> Void
    /// The watched files and their tokens.
    private var tokens: [String: [UInt8]?] = [:]
    /// The wall times at which tokens end that say so.
    private var expiries: [String: WallTime] = [:]
    /// The ends that have been logged.
    private var loggedExpiries: [String: WallTime] = [:]
    /// What was wrong with a file when it was read last.
    private var errors: [String: String] = [:]
    /// The rejections of tokens that are decided on when the file has been read, whether it has another token or not.
    private var awaited: [String: [CredentialRejection]] = [:]
    private var files: SettledFiles?
    private var expiryTimer: Timer?

    /// Starts to watch; `changed` is told of every file that has another token, or has been asked about.
    init(
        loop: EventLoop,
        log: OperationalLog,
        changed: @escaping (String, [UInt8]?, [CredentialRejection]) -> Void
    ) {
        self.loop = loop
        self.log = log
        self.changed = changed
        files = SettledFiles(loop: loop, log: log) { [unowned self] in readAgain($0) }
        expiryTimer = Timer(on: loop.timers) { [unowned self] in logExpiries() }
    }

    /// Watches these files from now on, and no others.
    ///
    /// - Returns: the token of each file, or nil where there is none.
    func use(_ paths: [String]) -> [String: [UInt8]?] {
        // This is the last look at them, and somebody waits for it.
        for path in awaited.keys.filter({ !paths.contains($0) }).sorted() {
            let rejections = awaited.removeValue(forKey: path) ?? []
            changed(path, read(path, before: tokens[path].flatMap { $0 }), rejections)
        }
        let new = files?.use(Set(paths)) ?? []
        tokens = tokens.filter { paths.contains($0.key) }
        errors = errors.filter { paths.contains($0.key) }
        expiries = expiries.filter { paths.contains($0.key) }
        loggedExpiries = loggedExpiries.filter { paths.contains($0.key) }
        // Workers take what is returned as the last word, so what has changed a moment ago is not left for later.
        for path in new.union(errors.keys).union(files?.unsettled ?? []).sorted() {
            tokens.updateValue(read(path, before: tokens[path].flatMap { $0 }), forKey: path)
        }
        logExpiries()
        return tokens
    }

    /// The token of a file, if it has one.
    func token(_ path: String) -> [UInt8]? { tokens[path].flatMap { $0 } }

    /// Whether a file has a token.
    func hasToken(_ path: String) -> Bool { token(path) != nil }

    /// The wall time at which the token of a file ends, if it says so.
    func expiry(of path: String) -> WallTime? { expiries[path] }

    /// What is wrong with a file, as far as it has been watched.
    func error(of path: String) -> String? { errors[path] }

    /// An upstream has rejected the token of a file: looks whether that has changed, and tells what it has.
    func rejected(_ path: String, _ token: [UInt8], _ rejection: CredentialRejection) {
        // Of a file that is watched no more, nothing else is known.
        guard let known = tokens[path] else { return changed(path, token, [rejection]) }
        if known == token, files?.check(at: path) == true {
            awaited[path, default: []].append(rejection)
        } else {
            changed(path, known, [rejection])
        }
    }

    private func readAgain(_ paths: [String]) {
        for path in paths {
            guard let before = tokens[path] else { continue }
            let token = read(path, before: before)
            let rejections = awaited.removeValue(forKey: path) ?? []
            guard !rejections.isEmpty || token != before else { continue }
            tokens.updateValue(token, forKey: path)
            if token != nil, token != before { log.log(.info, "token changed", ("file", path)) }
            changed(path, token, rejections)
        }
        logExpiries()
    }

    private func read(_ path: String, before: [UInt8]?) -> [UInt8]? {
        let token = readFile(path, before: before)
        if token != before { expiries[path] = token.flatMap { JWT.expiry(of: $0) } }
        return token
    }

    private func readFile(_ path: String, before: [UInt8]?) -> [UInt8]? {
        switch SmallFile.read(path, limit: TokenText.limit) {
        case .failure(let error):
            note(error.text, path)
            if [ENOENT, ENOTDIR].contains(error.code) { return nil }
            files?.checkAgain(at: path)
            return before
        case .success(let content):
            errors[path] = nil
            if let token = TokenText.token(in: content) { return token }
            note("the file is empty, or its content is not valid in a header", path)
            return before
        }
    }

    private func note(_ error: String, _ path: String) {
        guard errors.updateValue(error, forKey: path) != error else { return }
        log.log(.warn, "no token", ("file", path), ("reason", error))
    }

    /// Logs each token that has expired, once, and waits for the next one to do so.
    private func logExpiries() {
        let now = Clock.system.wall
        for (path, expiry) in expiries.sorted(by: { $0.key < $1.key }) where expiry <= now {
            guard loggedExpiries.updateValue(expiry, forKey: path) != expiry else { continue }
            log.log(.warn, "token expired", ("file", path), ("expired_at", TimestampFormatter.text(expiry)))
        }
        expiryTimer?.cancel()
        // Not beyond a day: a timer cannot be armed for a time that has no end.
        if let next = expiries.values.filter({ $0 > now }).min() {
            expiryTimer?.arm(after: min(next - now, 86_400 * .second))
        }
    }
}

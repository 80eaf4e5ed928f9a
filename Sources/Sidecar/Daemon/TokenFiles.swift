internal import Configuration
internal import Events
private import Glibc
internal import Proxy

/// The files that tokens come from: reads them, and again when they change.
///
/// While a file cannot be read, or has nothing in it that could be a token, the one before is kept. Only a file that is
/// gone takes its token with it.
final class TokenFiles {
    private let log: OperationalLog
    private let changed: (_ path: String, _ token: [UInt8]?) -> Void
    /// The watched files and their tokens.
    private var tokens: [String: [UInt8]?] = [:]
    /// What was wrong with a file when it was read last.
    private var faults: [String: String] = [:]
    private var files: SettledFiles?

    /// Starts to watch; `changed` is told of every file that has another token.
    init(loop: EventLoop, log: OperationalLog, changed: @escaping (String, [UInt8]?) -> Void) {
        self.log = log
        self.changed = changed
        files = SettledFiles(loop: loop, log: log) { [unowned self] in readAgain($0) }
    }

    /// Watches these files from now on, and no others.
    ///
    /// - Returns: the token of each file, or nil where there is none.
    func use(_ paths: [String]) -> [String: [UInt8]?] {
        let new = files?.use(Set(paths)) ?? []
        tokens = tokens.filter { paths.contains($0.key) }
        faults = faults.filter { paths.contains($0.key) }
        for path in new.union(faults.keys).sorted() {
            tokens.updateValue(read(path, before: tokens[path].flatMap { $0 }), forKey: path)
        }
        return tokens
    }

    /// Whether a file has a token.
    func hasToken(_ path: String) -> Bool { tokens[path].flatMap { $0 } != nil }

    /// What is wrong with a file, as far as it has been watched.
    func fault(of path: String) -> String? { faults[path] }

    private func readAgain(_ paths: [String]) {
        for path in paths {
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
            note(error.text, path)
            if [ENOENT, ENOTDIR].contains(error.code) { return nil }
            files?.lookAgain(at: path)
            return before
        case .success(let content):
            faults[path] = nil
            if let token = TokenText.token(in: content) { return token }
            note("empty, or not fit for a header", path)
            return before
        }
    }

    private func note(_ fault: String, _ path: String) {
        guard faults.updateValue(fault, forKey: path) != fault else { return }
        log.log(.warn, "no token", ("file", path), ("reason", fault))
    }
}

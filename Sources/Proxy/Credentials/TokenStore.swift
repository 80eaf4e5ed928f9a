/// The tokens that come from files, as one worker knows them.
///
/// The files are read and watched elsewhere; their contents arrive here by letter. Belongs to one thread.
final class TokenStore {
    private var tokens: [String: FileToken] = [:]

    /// The token of a file; without a value as long as nothing has arrived.
    func token(file path: String) -> FileToken {
        if let token = tokens[path] { return token }
        let token = FileToken()
        tokens[path] = token
        return token
    }

    /// The files that tokens come from.
    var paths: [String] { tokens.keys.sorted() }

    /// Takes the token that `path` has now; nil if it has none.
    func update(_ path: String, _ value: [UInt8]?) {
        tokens[path]?.update(value)
    }
}

/// A token whose value changes as its file does.
final class FileToken {
    /// The token, or nil while there is none.
    private(set) var value: [UInt8]?
    /// Counts the changes, so that what is made of the value can be kept until the next.
    private(set) var version = 0

    func update(_ value: [UInt8]?) {
        guard value != self.value else { return }
        self.value = value
        version += 1
    }
}

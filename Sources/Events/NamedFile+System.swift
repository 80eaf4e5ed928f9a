public import Configuration
private import Glibc

extension NamedFile {
    /// The path of the file.
    ///
    /// That of a credential is in the directory that systemd has named to this process. A process that was not started as
    /// the service has none: the path then begins with the name of the variable, which says what is missing, and no file
    /// is there.
    public var path: String {
        switch place {
        case .path(let path): path
        case .credential(let name): "\(Self.credentials ?? "$CREDENTIALS_DIRECTORY")/\(name)"
        }
    }

    private static var credentials: String? {
        guard let text = unsafe getenv("CREDENTIALS_DIRECTORY") else { return nil }
        let directory = unsafe String(cString: text)
        return directory.isEmpty ? nil : directory
    }

    /// Reads the file, of at most `limit` bytes; why that cannot be is reported.
    public func read(limit: Int, into diagnostics: Diagnostics) -> [UInt8]? {
        switch SmallFile.read(path, limit: limit) {
        case .success(let content): return content
        case .failure(let error):
            let problem = "cannot read \(path): \(error.text)"
            // Commands that check a file, `ExecReload=` among them, do not see the credentials of the service.
            isCredential ? diagnostics.lack(problem, at: mark) : diagnostics.report(problem, at: mark)
            return nil
        }
    }
}

private import Glibc

/// systemd's journal, where it reads what the process writes to standard error (systemd.exec(5), `$JOURNAL_STREAM`).
public enum Journal {
    /// Whether standard error goes to the journal, which takes a priority at the start of each line.
    ///
    /// To be asked for first before there are other threads: the environment is not locked.
    public static let readsStandardError: Bool = {
        var status = stat()
        guard let text = unsafe getenv("JOURNAL_STREAM"), unsafe fstat(STDERR_FILENO, &status) == 0 else {
            return false
        }
        // The variable may be inherited from a service whose output this process does not share.
        return unsafe String(cString: text) == "\(status.st_dev):\(status.st_ino)"
    }()
}

internal import Events
private import Glibc

/// How the program ends.
struct Exit: Equatable {
    /// The exit code of the process.
    let code: Int32

    /// Everything went well.
    static let success = Exit(code: 0)
    /// Something went wrong at run time.
    static let failure = Exit(code: 1)
    /// The command line is not understood.
    static let usage = Exit(code: 2)
    /// The daemon was told to stop, and ended calls that took longer than the drain; the units count it as a success.
    static let cutOff = Exit(code: 3)
    /// The configuration is not good (EX_CONFIG of sysexits).
    static let configuration = Exit(code: 78)

    /// The codes of Martlet's own with what they say, for `--help` and the reference page; `exec` has those of its program too.
    static let meanings: [(exit: Exit, text: String)] = [
        (success, "The command succeeded, or the daemon stopped after all calls ended."),
        (failure, "The command or the daemon failed, no daemon responded, or a signal ended the daemon at once."),
        (usage, "The command line is wrong."),
        (cutOff, "The daemon stopped, and ended calls that took longer than the drain."),
        (configuration, "The configuration is wrong, or there is no admin socket to ask."),
    ]

    /// Ends the process.
    static func now(_ exit: Exit) -> Never {
        Glibc.exit(exit.code)
    }

    /// Ends the process while other threads run: what libraries do at the end of a process would take things from them.
    static func atOnce(_ exit: Exit) -> Never {
        _exit(exit.code)
    }
}

/// The standard streams of the commands.
enum Terminal {
    /// Writes a line to standard output.
    static func print(_ line: String) {
        write(line + "\n", to: STDOUT_FILENO)
    }

    /// Writes lines to standard error.
    static func complain(_ lines: String) {
        let lead = Journal.readsStandardError ? "<3>" : ""
        for line in lines.split(separator: "\n") { write(lead + line + "\n", to: STDERR_FILENO) }
    }

    /// Writes bytes to standard output.
    static func write(_ bytes: [UInt8]) {
        write(bytes, to: STDOUT_FILENO)
    }

    /// Reads standard input to its end; nil if that is more than `limit` bytes.
    static func read(limit: Int) -> [UInt8]? {
        var content: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while content.count <= limit {
            let count = unsafe Glibc.read(STDIN_FILENO, &piece, piece.count)
            guard count > 0 else { return content }
            content += piece[..<count]
        }
        return nil
    }

    /// Why standard output has not got everything, if it has not.
    static var outputError: SystemError? {
        let error = outputErrno.withLock { $0 }
        return error == 0 ? nil : SystemError(error)
    }

    private static let outputErrno = Locked<Int32>(0)

    private static func write(_ text: String, to descriptor: Int32) {
        write(Array(text.utf8), to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                let error = errno
                if descriptor == STDOUT_FILENO { outputErrno.withLock { $0 = error } }
                return
            }
            rest = rest.dropFirst(count)
        }
    }
}

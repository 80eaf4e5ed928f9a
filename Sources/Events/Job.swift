private import CLinux
private import Glibc

/// The program that `martlet exec` runs, for whose calls the daemon is there.
///
/// Its process is made before all else, with the limits and the environment that this one was started with, and waits until
/// `begin`. It has the standard streams, and dies with this process by SIGTERM. Belongs to the main thread.
public final class Job: Watcher {
    /// The program and its arguments.
    public let command: [String]
    /// The exit status, 128 + n if signal n ended it; nil until it has ended.
    public private(set) var status: Int32?
    private var child = martlet_job()
    private var hasBegun = false
    private var watch: Watch?
    private var ended: (() -> Void)?

    /// Makes the process, which waits; this one must have no other thread yet.
    ///
    /// - Throws: why there can be no process. Whether the program can be executed is not known before it begins.
    public init(_ command: [String]) throws(SystemError) {
        self.command = command
        var error: Int32 = 0
        let arguments = unsafe command.map { unsafe strdup($0) }
        var pointers = unsafe arguments.map { unsafe $0.map { unsafe UnsafePointer($0) } } + [nil]
        Children.add {
            unsafe error = martlet_job_prepare(&pointers, &child)
            return error == 0 ? child.pid : nil
        }
        unsafe arguments.forEach { unsafe free($0) }
        guard error == 0 else { throw SystemError(error) }
    }

    deinit {
        if !hasBegun { close(child.gate) }
    }

    /// Has the process become the program.
    ///
    /// Until it has ended, signals that ask a program for something go to it, and not to those who handle them here. Processes
    /// whose parents have ended are waited for from now on.
    ///
    /// - Parameters:
    ///   - variables: variables beside those of this process.
    ///   - loop: the loop of the main thread.
    ///   - ended: called once, when it has ended and `status` says how.
    public func begin(_ variables: [(name: String, value: String)], on loop: EventLoop, ended: @escaping () -> Void) {
        self.ended = ended
        hasBegun = true
        let text: [UInt8] =
            variables.flatMap { variable in Array("\(variable.name)=\(variable.value)".utf8) + [0] } + [0]
        martlet_adopt_orphans()
        martlet_job_pass_signals(child.pid)
        // If that fails, the process has ended, which is told as any other end.
        _ = unsafe martlet_job_begin(child.gate, text, text.count)
        let watch = Watch(child.handle, on: loop, for: self)
        self.watch = watch
        watch.watchesRead = true
    }

    /// Whether the process is the program now, or was it until now.
    public var isRunning: Bool { hasBegun && status == nil }

    /// Sends the program a signal.
    public func send(_ signal: Int32) {
        if isRunning { kill(child.pid, signal) }
    }

    /// The process has ended.
    public func readable() {
        martlet_job_keep_signals()
        guard let status = Children.reap(child.pid) else { return }
        self.status = status
        watch?.end()
        watch = nil
        close(child.handle)
        ended?()
    }

    public func writable() {}
}

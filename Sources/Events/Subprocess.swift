private import CLinux
private import Glibc
public import Time

/// A program that runs for its output, which is small; nobody waits for it.
///
/// It is started without a shell, reads nothing, and what it says on its standard error is thrown away. Belongs to its
/// loop's thread.
public final class Subprocess: Watcher {
    /// What has become of it.
    public enum Outcome: Equatable, Sendable {
        /// It ended with a status, 128 + n if signal n ended it; these bytes were its output.
        case ended(status: Int32, output: [UInt8])
        /// It could not be started.
        case notStarted(SystemError)
        /// It took too long and was killed.
        case tooSlow
        /// It said too much and was killed.
        case tooMuch
    }

    private final class End: Watcher {
        unowned let process: Subprocess
        /// The process, from when it was killed until it is dead: only then it can be waited for.
        var killed: Subprocess?
        init(_ process: Subprocess) { self.process = process }
        func readable() { process.hasEnded() }
        func writable() {}
    }

    private let loop: EventLoop
    private let limit: Int
    private var child: martlet_child?
    private var output: [UInt8] = []
    private var outputWatch: Watch?
    private var endWatch: Watch?
    private var end: End?
    private var timer: Timer?
    private var done: ((Outcome) -> Void)?
    private var isReaped = false

    /// Makes one that is not started yet.
    ///
    /// - Parameters:
    ///   - loop: the loop of the thread.
    ///   - limit: the most bytes of output.
    ///   - done: called once, unless it is cancelled; never before `start` has returned, but when it cannot be started.
    public init(on loop: EventLoop, limit: Int, done: @escaping (Outcome) -> Void) {
        self.loop = loop
        self.limit = limit
        self.done = done
    }

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - command: its path and its arguments.
    ///   - environment: variables beside those of this process, or in their place.
    ///   - timeout: how long it may take.
    public func start(_ command: [String], environment: [String: String] = [:], timeout: Duration?) {
        var child = martlet_child()
        var error: Int32 = 0
        unsafe Self.withStrings(command) { argv in
            unsafe Self.withStrings(Self.environment(with: environment)) { envp in
                Children.add {
                    unsafe error = martlet_spawn(argv, envp, &child)
                    return error == 0 ? child.pid : nil
                }
            }
        }
        guard error == 0 else { return finish(.notStarted(SystemError(error))) }
        self.child = child
        let end = End(self)
        self.end = end
        outputWatch = Watch(child.output, on: loop, for: self)
        outputWatch?.watchesRead = true
        endWatch = Watch(child.handle, on: loop, for: end)
        endWatch?.watchesRead = true
        guard let timeout else { return }
        let timer = Timer(on: loop.timers) { [unowned self] in finish(.tooSlow) }
        self.timer = timer
        timer.arm(after: timeout)
    }

    /// Kills it; nobody is told.
    public func cancel() {
        done = nil
        release()
    }

    private func finish(_ outcome: Outcome) {
        let done = done
        self.done = nil
        loop.keep(self)
        release()
        done?(outcome)
    }

    private func release() {
        timer?.cancel()
        timer = nil
        outputWatch?.end()
        outputWatch = nil
        guard let child, end?.killed == nil else { return }
        // Also where it has ended by itself: what it has started goes with it.
        if !isReaped { martlet_kill(child.pid) }
        close(child.output)
        if isReaped { remove(child) } else { end?.killed = self }
    }

    private func remove(_ child: martlet_child) {
        self.child = nil
        close(child.handle)
        endWatch?.end()
        endWatch = nil
        guard let end else { return }
        loop.keep(end)
        end.killed = nil
        self.end = nil
    }

    // MARK: What it tells

    public func readable() {
        guard let child else { return }
        read(child.output)
        if output.count > limit { finish(.tooMuch) }
    }

    public func writable() {}

    private func read(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while output.count <= limit {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                if count == 0 { outputWatch?.watchesRead = false }
                return
            }
            output += buffer.prefix(count)
        }
    }

    private func hasEnded() {
        guard let child else { return }
        guard end?.killed == nil else {
            loop.keep(self)
            _ = Children.reap(child.pid)
            return remove(child)
        }
        // Others may have its output still: what there is of it now is all.
        read(child.output)
        // Before it is waited for: afterwards its number may be another's.
        martlet_kill(child.pid)
        guard let status = Children.reap(child.pid) else { return }
        isReaped = true
        finish(output.count > limit ? .tooMuch : .ended(status: status, output: output))
    }

    // MARK: Strings of C

    /// The variables of this process, with others beside them or in their place.
    private static func environment(with variables: [String: String]) -> [String] {
        var kept: [String] = []
        var next = unsafe environ
        while let text = unsafe next.pointee {
            let variable = unsafe String(cString: text)
            if variables[String(variable.prefix { $0 != "=" })] == nil { kept.append(variable) }
            unsafe next += 1
        }
        return kept + variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    }

    private static func withStrings(
        _ texts: [String],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Void
    ) {
        let copies = unsafe texts.map { unsafe strdup($0) }
        defer { unsafe copies.forEach { unsafe free($0) } }
        let pointers = unsafe copies.map { unsafe $0.map { unsafe UnsafePointer($0) } } + [nil]
        unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
    }
}

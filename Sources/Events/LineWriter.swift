private import CLinux
private import Glibc

/// Writes whole lines to a file or a standard stream, from a thread of its own, so that no loop ever waits for a disk, a
/// pipe or a terminal.
///
/// What is not written yet is bounded: lines beyond that are dropped, and `write` says so.
@safe
public final class LineWriter: Sendable {
    /// Lines that are not written yet.
    private struct Queue {
        /// What the thread has not taken yet, in pieces, so that a long queue is not copied to make it longer.
        var waiting: [[UInt8]] = []
        /// The bytes that wait, and those that the thread has taken and not written.
        var unwritten = 0

        mutating func add(_ lines: [UInt8]) {
            unwritten += lines.count
            if let last = waiting.indices.last, waiting[last].count < LineWriter.piece {
                waiting[last] += lines
            } else {
                waiting.append(lines)
            }
        }

        mutating func next() -> [UInt8]? { waiting.isEmpty ? nil : waiting.removeFirst() }
    }

    private struct State {
        var lines = Queue()
        /// Lines that are written before the others.
        var vital = Queue()
        var reopens = false
        var stops = false
        /// Whether the last lines could not be written.
        var isBroken = false
        /// Whether lines could not be written since somebody was told so.
        var hasLost = false
        /// The permission bits that the file is given when it is opened.
        var mode: UInt32?
        /// The most bytes of a tape, before the next one is begun.
        var maxSize: Int

        var unwritten: Int { lines.unwritten + vital.unwritten }

        /// What the thread is to do next: the first piece, and what was asked for meanwhile.
        mutating func next() -> Job {
            defer { reopens = false }
            let isVital = !vital.waiting.isEmpty
            let piece = isVital ? vital.next() : lines.next()
            return Job(
                piece: piece,
                isVital: isVital,
                reopens: reopens,
                stops: stops,
                isBroken: isBroken,
                mode: mode,
                maxSize: maxSize
            )
        }

        mutating func wrote(_ count: Int, isVital: Bool, failed: Bool) {
            if isVital { vital.unwritten -= count } else { lines.unwritten -= count }
            isBroken = failed
            // Nobody counts vital lines.
            if failed, !isVital { hasLost = true }
        }
    }

    private struct Job {
        let piece: [UInt8]?
        let isVital: Bool
        let reopens: Bool
        let stops: Bool
        let isBroken: Bool
        let mode: UInt32?
        let maxSize: Int
    }

    private static let newline = UInt8(ascii: "\n")
    /// The most bytes that are not written yet: what a busy service logs in about a second.
    public static let limit = 16 * 1024 * 1024
    /// The same of vital lines.
    private static let vitalLimit = 1024 * 1024
    /// A piece takes more lines until it has so many bytes.
    private static let piece = 64 * 1024

    private let target: Target
    private let state: Locked<State>
    private let wake = Wake()
    private let stopped = Wake()

    /// Starts a writer.
    ///
    /// - Parameters:
    ///   - target: where lines go.
    ///   - mode: that of a file, which has 0640 less the umask if it is new and nothing is said.
    ///   - maxSize: how long a tape may be.
    public init(to target: Target, mode: UInt32? = nil, maxSize: Int = .max) {
        self.target = target
        state = Locked(State(mode: mode, maxSize: maxSize))
        WorkerThread(name: "martlet-log") { [state, wake, stopped, target] in
            Self.run(target, state, wake)
            stopped.signal()
        }.detach()
    }

    /// Puts lines in the queue.
    ///
    /// - Parameters:
    ///   - lines: whole lines.
    ///   - isVital: whether they are of the few that do not wait for the others, and have room when those have none.
    /// - Returns: false if they are lost, or the lines before them were: there is no room, or they cannot be written.
    public func write(_ lines: [UInt8], isVital: Bool = false) -> Bool {
        guard !lines.isEmpty else { return true }
        let isGood = state.withLock { state in
            if isVital {
                guard state.vital.unwritten + lines.count <= Self.vitalLimit else { return false }
                state.vital.add(lines)
                return !state.isBroken
            }
            guard state.lines.unwritten + lines.count <= Self.limit else { return false }
            state.lines.add(lines)
            defer { state.hasLost = false }
            return !state.isBroken && !state.hasLost
        }
        wake.signal()
        return isGood
    }

    /// Gives the file other permission bits, when it is opened again.
    public func use(mode: UInt32) {
        let changed = state.withLock { state in
            guard state.mode != mode else { return false }
            (state.mode, state.reopens) = (mode, true)
            return true
        }
        if changed { wake.signal() }
    }

    /// Lets a tape be so long.
    public func use(maxSize: Int) {
        state.withLock { $0.maxSize = maxSize }
    }

    /// Closes the file and opens it again by its name, after it was rotated.
    public func reopen() {
        state.withLock { $0.reopens = true }
        wake.signal()
    }

    /// Writes what waits and ends the thread, in at most `seconds`.
    ///
    /// After a second in which nothing could be written the thread is left behind: nobody reads.
    public func finish(within seconds: Int = 4) {
        var unwritten = state.withLock { state in
            state.stops = true
            return state.unwritten
        }
        wake.signal()
        for _ in 0..<seconds {
            if stopped.wait(atMost: 1) { return }
            let left = state.withLock { $0.unwritten }
            if left == unwritten { return }
            unwritten = left
        }
    }

    /// Why this process cannot write a log file; nil if it can, as far as is known.
    ///
    /// Nothing is created.
    public static func error(openingFile path: String) -> SystemError? {
        if unsafe access(path, F_OK) == 0 { return unsafe access(path, W_OK) == 0 ? nil : SystemError(errno) }
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
        return unsafe access(folder, W_OK | X_OK) == 0 ? nil : SystemError(errno)
    }

    private static func run(_ target: Target, _ state: Locked<State>, _ wake: Wake) {
        var descriptor = open(target, mode: state.withLock { $0.mode })
        /// Whether the file could not be opened: that is retried with the next lines.
        var mustReopen = descriptor < 0
        var complaint = Complaint()
        // What could not be written may have begun, also by a run before: the next line gets one of its own.
        var isWithinLine = endsWithinLine(target)
        var isIdle = true
        while true {
            if isIdle { wake.wait() }
            let taken = state.withLock { $0.next() }
            if case .tape(let path) = target, let piece = taken.piece {
                mustReopen = TapeFile.rotate(path, descriptor, for: piece.count, maxSize: taken.maxSize) || mustReopen
            }
            if taken.reopens || mustReopen, target.isFile {
                // What has the name now may be somewhere else for a moment: until it can be opened, the old one serves.
                let new = open(target, mode: taken.mode, isQuiet: mustReopen)
                mustReopen = new < 0
                if new >= 0 {
                    close(descriptor)
                    descriptor = new
                    isWithinLine = endsWithinLine(target)
                }
            }
            if let piece = taken.piece {
                let lines = isWithinLine ? [newline] + piece : piece
                let (written, error) = target.write(lines, to: descriptor)
                if written > 0 { isWithinLine = lines[written - 1] != newline }
                if let error, descriptor >= 0, !taken.isBroken { complaint.lost(target, error) }
                state.withLock { $0.wrote(piece.count, isVital: taken.isVital, failed: error != nil) }
            }
            isIdle = taken.piece == nil
            if taken.stops && isIdle { return }
        }
    }

    private static func open(_ target: Target, mode: UInt32?, isQuiet: Bool = false) -> Int32 {
        switch target {
        case .standardOutput: STDOUT_FILENO
        case .standardError: STDERR_FILENO
        case .file(let path): openFile(path, mode: mode, isQuiet: isQuiet)
        case .tape(let path): openTape(path, isQuiet: isQuiet)
        }
    }

    private static func openTape(_ path: String, isQuiet: Bool) -> Int32 {
        switch TapeFile.open(path) {
        case .success(let descriptor): return descriptor
        case .failure(let error):
            if !isQuiet { Complaint.write("cannot open the tape \(path): \(error.text)") }
            return -1
        }
    }

    private static func openFile(_ path: String, mode: UInt32?, isQuiet: Bool) -> Int32 {
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
        if descriptor < 0, !isQuiet {
            Complaint.write("cannot open the log \(path): \(SystemError(errno).text)")
        }
        // A file that is somebody else's keeps its mode.
        if descriptor >= 0, let mode { _ = fchmod(descriptor, mode) }
        return descriptor
    }

    /// Whether a file ends in something else than the end of a line.
    private static func endsWithinLine(_ target: Target) -> Bool {
        guard case .file(let path) = target else { return false }
        var status = stat()
        // Only of a file: opening a FIFO would take what somebody else is to read.
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            return false
        }
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var last = newline
        unsafe pread(descriptor, &last, 1, status.st_size - 1)
        return last != newline
    }

    /// Writes everything; what cannot be written (a full disk, a reader that is gone) is lost.
    ///
    /// - Returns: how many bytes were written, and why not all, as a number of the system's; nil if nothing was lost.
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> (written: Int, error: Int32?) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                var readiness = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&readiness, 1, 1000)
            } else if count == 0 || errno != EINTR {
                return (bytes.count - rest.count, count == 0 ? EIO : errno)
            }
        }
        return (bytes.count, nil)
    }
}

/// What a writer says on standard error of its own troubles: that lines are lost at most once a minute, since a disk that
/// is nearly full takes every other line.
private struct Complaint {
    private static let pause = 60
    private var silentUntil = 0

    mutating func lost(_ target: LineWriter.Target, _ error: Int32) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        guard now.tv_sec >= silentUntil else { return }
        silentUntil = now.tv_sec + Self.pause
        Self.write("cannot write to the log \(Self.name(target)), lines are lost: \(SystemError(error).text)")
    }

    private static func name(_ target: LineWriter.Target) -> String {
        switch target {
        case .standardOutput: "on stdout"
        case .standardError: "on stderr"
        case .file(let path), .tape(let path): path
        }
    }

    static func write(_ text: String) {
        let lead = Journal.readsStandardError ? "<3>" : ""
        _ = LineWriter.writeAll(Array("\(lead)martlet: \(text)\n".utf8), to: STDERR_FILENO)
    }
}

/// A thread's bell: `wait` sleeps until somebody has rung since the last time.
@safe
private final class Wake: Sendable {
    nonisolated(unsafe) private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    func signal() {
        unsafe sem_post(semaphore)
    }

    /// As `wait`, but no longer than so many seconds; returns whether somebody has rung.
    func wait(atMost seconds: Int) -> Bool {
        unsafe martlet_sem_wait(semaphore, Int32(seconds))
    }

    func wait() {
        while unsafe sem_wait(semaphore) != 0 {}
        // Several rings are one: what they were for is taken in one go.
        while unsafe sem_trywait(semaphore) == 0 {}
    }
}

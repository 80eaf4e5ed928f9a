import Glibc
import Testing
import Time

@testable import Events

/// Programs that run for their output.
@Suite struct SubprocessTests {
    private final class Reported {
        var outcomes: [Subprocess.Outcome] = []
    }

    /// What becomes of a shell's script.
    private func outcome(
        _ script: String,
        limit: Int = 1024,
        environment: [String: String] = [:]
    ) -> Subprocess.Outcome? {
        outcome(of: ["/bin/sh", "-c", script], limit: limit, environment: environment)
    }

    private func outcome(
        of command: [String],
        limit: Int = 1024,
        environment: [String: String] = [:]
    ) -> Subprocess.Outcome? {
        let (loop, reported) = (EventLoop(), Reported())
        let process = Subprocess(on: loop, limit: limit) { reported.outcomes.append($0) }
        process.start(command, environment: environment, timeout: 60 * .second)
        while reported.outcomes.isEmpty { loop.turn() }
        for _ in 0..<10 { loop.turn(waiting: false) }
        #expect(reported.outcomes.count == 1)
        return reported.outcomes.first
    }

    @Test func `its output and its status are reported`() {
        #expect(outcome("printf 'a b'") == .ended(status: 0, output: Array("a b".utf8)))
        #expect(outcome("echo x; exit 7") == .ended(status: 7, output: Array("x\n".utf8)))
        #expect(outcome("kill -9 $$") == .ended(status: 137, output: []))
        #expect(outcome(of: ["/bin/echo", "$HOME; `ls`"]) == .ended(status: 0, output: Array("$HOME; `ls`\n".utf8)))
    }

    @Test func `it reads nothing, and what it says beside its output is thrown away`() {
        #expect(outcome("cat; echo secret >&2") == .ended(status: 0, output: []))
    }

    @Test func `it has the variables of this process, and others beside them or in their place`() {
        #expect(outcome("printf %s \"$PATH\"") != .ended(status: 0, output: []))
        let environment = ["PATH": "/none", "MARTLET_TEST": "a=b"]
        #expect(
            outcome("printf %s \"$PATH $MARTLET_TEST\"", environment: environment)
                == .ended(status: 0, output: Array("/none a=b".utf8))
        )
    }

    @Test func `one that cannot be started is reported of at once`() {
        #expect(outcome(of: ["/nowhere/tool"]) == .notStarted(SystemError(ENOENT)))
        #expect(outcome(of: ["/etc/passwd"]) == .notStarted(SystemError(EACCES)))
    }

    @Test func `output beyond the limit ends it, and output at the limit does not`() {
        #expect(outcome("head -c 1024 /dev/zero") == .ended(status: 0, output: [UInt8](repeating: 0, count: 1024)))
        #expect(outcome("head -c 1025 /dev/zero") == .tooMuch)
        #expect(outcome("cat /dev/zero") == .tooMuch)
    }

    @Test func `what it leaves behind does not keep its end from being seen`() throws {
        let pipe = try Pipe()
        #expect(
            outcome("exec 3> \(pipe.path); sleep 600 & echo done") == .ended(status: 0, output: Array("done\n".utf8))
        )
        // What it has started has gone with it.
        #expect(pipe.isAbandoned)
    }

    // MARK: Ended by us

    @Test func `one that takes too long is killed with all that it has started`() throws {
        let (clock, reported, pipe) = (ManualClock(), Reported(), try Pipe())
        let loop = EventLoop(clock: .manual(clock))
        let process = Subprocess(on: loop, limit: 1024) { reported.outcomes.append($0) }
        process.start(["/bin/sh", "-c", "exec 3> \(pipe.path); sleep 600 & echo $$ >&3; wait"], timeout: .second)
        let pid = try #require(pipe.number())
        clock.now += 990 * .millisecond
        loop.turn(waiting: false)
        #expect(reported.outcomes.isEmpty)
        clock.now += 20 * .millisecond
        loop.turn(waiting: false)
        #expect(reported.outcomes == [.tooSlow])
        #expect(pipe.isAbandoned)
        #expect(isGone(pid, loop))
        #expect(reported.outcomes.count == 1)
    }

    @Test func `one that is cancelled is killed, and nobody is reported`() throws {
        let (loop, reported, pipe) = (EventLoop(), Reported(), try Pipe())
        let process = Subprocess(on: loop, limit: 1024) { reported.outcomes.append($0) }
        process.start(["/bin/sh", "-c", "exec 3> \(pipe.path); sleep 600 & echo $$ >&3; wait"], timeout: nil)
        let pid = try #require(pipe.number())
        process.cancel()
        process.cancel()
        #expect(pipe.isAbandoned)
        #expect(isGone(pid, loop))
        #expect(reported.outcomes.isEmpty)
    }

    @Test func `one that nobody keeps is still waited for`() throws {
        let (loop, pipe) = (EventLoop(), try Pipe())
        var process: Subprocess? = Subprocess(on: loop, limit: 1024) { _ in }
        process?.start(["/bin/sh", "-c", "exec 3> \(pipe.path); echo $$ >&3; exec sleep 600"], timeout: nil)
        let pid = try #require(pipe.number())
        process?.cancel()
        process = nil
        #expect(isGone(pid, loop))
    }

    /// Whether a process is no more, not even a zombie, after what the loop does about it.
    private func isGone(_ pid: pid_t, _ loop: EventLoop) -> Bool {
        for _ in 0..<10_000 {
            loop.turn(waiting: false)
            if kill(pid, 0) != 0 { return true }
            _ = poll(nil, 0, 1)
        }
        return false
    }
}

/// A named pipe that processes hold open: it is abandoned when the last of them has died.
private final class Pipe {
    private let directory = TemporaryDirectory()
    private let descriptor: Int32
    let path: String

    init() throws {
        path = directory / "pipe"
        try #require(unsafe mkfifo(path, 0o600) == 0)
        descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(descriptor >= 0)
    }

    deinit {
        close(descriptor)
    }

    /// The number that comes first, on a line.
    func number() -> pid_t? {
        var text = ""
        while !text.hasSuffix("\n"), wait() {
            let piece = read()
            if piece.isEmpty { return nil }
            text += piece
        }
        return pid_t(text.dropLast())
    }

    /// Whether nobody has it open any more; waits for that.
    var isAbandoned: Bool {
        while wait() { if read().isEmpty { return true } }
        return false
    }

    private func wait() -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&poll, 1, 20_000) > 0
    }

    private func read() -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

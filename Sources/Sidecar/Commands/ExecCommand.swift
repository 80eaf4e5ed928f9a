internal import Events
internal import Proxy
internal import Time

/// `martlet exec`: serves while a program runs, and ends as it does.
struct ExecCommand {
    private let file: ConfigurationFile
    private let command: [String]
    private let wait: Duration?
    private let mustBeReady: Bool

    init(_ invocation: Invocation, _ registry: Registry) throws(UsageError) {
        file = .find(invocation[.config], registry, outputIsTaken: !invocation.has(.ownOutput))
        command = invocation.trailing
        mustBeReady = invocation.has(.mustBeReady)
        wait = try invocation.time(.readyTime, default: "30s")
        guard !mustBeReady || wait != nil else {
            throw invocation.error("--ready-or-fail needs a time to wait; remove --wait none")
        }
    }

    /// Runs the program, and returns its exit code when the calls have ended.
    func run() -> Exit {
        Signals.holdEnds()
        let job: Job
        do throws(SystemError) {
            // First of all: it gets what this process was started with, and no thread may be there.
            job = try Job(command)
        } catch {
            Terminal.complain("martlet: cannot make a process for \(command[0]): \(error.text)")
            return .failure
        }
        return Run.run(file, watches: false, job: JobRun(job: job, wait: wait, mustBeReady: mustBeReady))
    }
}

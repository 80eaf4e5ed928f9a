internal import Events
private import Glibc

/// How this process comes after another one of the program, and another after it.
struct Successions {
    /// The process whose place this one takes; none if it was not started by `martlet upgrade`.
    let predecessor: Predecessor?
    /// What starts the program anew, or why no other process can take the place of this one.
    private(set) var launcher: Result<Launcher, ConfigurationFile.Rejection>

    /// To be made first of all, while there is one thread and nothing to hide.
    init(_ file: ConfigurationFile, job: JobRun?) {
        // The launcher must not have the variable.
        predecessor = Predecessor()
        launcher = Self.launcher(file, job: job)
    }

    /// Why no other process can replace this one after its launcher has ended.
    static let launcherEnded = "the process that starts the new program was killed"

    /// Whether the launcher has ended, so that only a restart can replace this process.
    var hasLostLauncher: Bool {
        if case .success(let launcher) = launcher { !launcher.isRunning } else { false }
    }

    /// Ends what starts the program anew, if there is anything.
    ///
    /// The process itself must go: somebody who takes this one over could ask it whatever the daemon rejects.
    mutating func endLauncher(_ reason: String) {
        if case .success = launcher { launcher = .failure(.init(lines: [reason])) }
    }

    private static func launcher(
        _ file: ConfigurationFile,
        job: JobRun?
    ) -> Result<Launcher, ConfigurationFile.Rejection> {
        if let reason = reason(file, job: job) { return .failure(.init(lines: [reason])) }
        do throws(SystemError) {
            return .success(try Launcher())
        } catch {
            return .failure(.init(lines: ["no process could be made for that at startup: \(error.text)"]))
        }
    }

    /// Why this process cannot be replaced, for people; none if it can.
    private static func reason(_ file: ConfigurationFile, job: JobRun?) -> String? {
        if job != nil { return "Martlet runs a program, and ends with it" }
        if file.isStandardInput { return "standard input can be read only once; restart instead" }
        let ofContainer = "the first process of a container cannot be replaced; start a new container"
        // A parent in another namespace has no number here.
        if getpid() == 1 || getppid() == 0 { return ofContainer }
        guard Environment.value("NOTIFY_SOCKET") == nil else { return nil }
        if Environment.value("SYSTEMD_EXEC_PID") == "\(getpid())" {
            return "systemd would end the service with this process; write Type=notify into the unit"
        }
        // An init of a container ends with its only child.
        return getppid() == 1 && Launcher.isInContainer ? ofContainer : nil
    }
}

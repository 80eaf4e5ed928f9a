internal import Events
private import Glibc

/// How this process comes after another one of the program, and another after it.
struct Successions {
    /// The process whose place this one takes; none if it was not started by `martlet upgrade`.
    let predecessor: Predecessor?
    /// What starts the program anew, or why no other process can take the place of this one.
    let launcher: Result<Launcher, Obstacle>

    /// Why this process cannot be replaced: a line for people.
    struct Obstacle: Error {
        let text: String
    }

    /// To be made first of all, while there is one thread and nothing to hide.
    init(_ file: ConfigurationFile, job: JobRun?) {
        // The launcher must not have the variable.
        predecessor = Predecessor()
        launcher = Self.launcher(file, job: job)
    }

    private static func launcher(_ file: ConfigurationFile, job: JobRun?) -> Result<Launcher, Obstacle> {
        if let obstacle = obstacle(file, job: job) { return .failure(Obstacle(text: obstacle)) }
        do throws(SystemError) {
            return .success(try Launcher())
        } catch {
            return .failure(Obstacle(text: "no process could be made for that at startup: \(error.text)"))
        }
    }

    private static func obstacle(_ file: ConfigurationFile, job: JobRun?) -> String? {
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

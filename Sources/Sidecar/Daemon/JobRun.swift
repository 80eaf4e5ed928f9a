internal import Events
internal import Time

/// The program that `martlet exec` runs, and when it begins.
struct JobRun {
    let job: Job
    /// How long the program waits for the daemon to be ready; nil is not at all.
    let wait: Duration?
    /// Whether the program must not run beside a daemon that is not ready.
    let mustBeReady: Bool
}

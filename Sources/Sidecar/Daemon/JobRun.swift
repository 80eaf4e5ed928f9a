internal import Events
internal import Time

/// The program that `martlet exec` runs, and when it begins.
///
/// Belongs to the main thread.
final class JobRun {
    let job: Job
    /// How long the program waits for the daemon to be ready; nil is not at all.
    let wait: Duration?
    /// Whether the program must not run beside a daemon that is not ready.
    let mustBeReady: Bool
    /// When the program begins at the latest; nil before the daemon serves.
    var latest: Instant?
    var timer: Timer?

    init(_ job: Job, wait: Duration?, mustBeReady: Bool) {
        (self.job, self.wait, self.mustBeReady) = (job, wait, mustBeReady)
    }
}

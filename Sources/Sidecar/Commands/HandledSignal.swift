/// The signals that the daemon handles, for `--help` and the reference page.
struct HandledSignal: Equatable, Sendable {
    /// The names of the signals that do the same.
    let names: [String]
    /// What they do, in one or two sentences.
    let summary: String

    static let all = [
        HandledSignal(names: ["SIGHUP"], summary: "Load the file again. If it has errors, keep the old configuration."),
        HandledSignal(
            names: ["SIGTERM", "SIGINT"],
            summary: "Drain and stop: close the listeners and let calls end. A second signal stops at once."
        ),
        HandledSignal(names: ["SIGQUIT"], summary: "Stop at once."),
        HandledSignal(names: ["SIGUSR1"], summary: "Open the log files again."),
        HandledSignal(names: ["SIGUSR2"], summary: "Write the current state to the operational log."),
    ]
}

internal import Events

/// How this process comes after another one of the program, and another after it.
struct Successions {
    /// The process whose place this one takes; none if it was not started by `martlet upgrade`.
    let predecessor: Predecessor?
    /// What starts the program anew; none where this process cannot be replaced.
    let launcher: Launcher?

    /// To be made first of all, while there is one thread and nothing to hide.
    ///
    /// A program that runs has this process for a parent, so another one cannot take its place.
    init(job: JobRun?) {
        // The launcher must not have the variable.
        predecessor = Predecessor()
        launcher = job == nil ? Launcher() : nil
    }
}

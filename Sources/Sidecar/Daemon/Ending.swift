/// How the daemon comes to its end.
struct Ending {
    /// The connections are being drained.
    var drain: Drain?
    /// A signal has asked for the end; a second one means it.
    var hasSignal = false
    /// How the program ends, once nothing is left to do.
    var exit: Exit?
}

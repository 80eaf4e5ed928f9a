/// How the daemon comes to its end.
struct Ending {
    /// The connections are being drained.
    var drain: Drain?
    /// It is to end, once it is clear whether another process takes its place.
    var isDue = false
    /// A signal has asked for the end; a second one means it.
    var hasSignal = false
    /// How the program ends, once nothing is left to do.
    var exit: Exit?
    /// The drain has come to its end, and nobody wants the process to end at once.
    var isDrained = false
}

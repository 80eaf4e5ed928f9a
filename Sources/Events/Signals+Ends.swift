private import Glibc

/// The signals that ask for the end of the process: SIGTERM, SIGINT and SIGQUIT.
extension Signals {
    /// Keeps the signals that ask for the end of the process until `releaseEnds`; threads that begin meanwhile do so as well.
    public static func holdEnds() { mask(SIG_BLOCK) }

    /// Lets the signals come that `holdEnds` keeps, and those that have come.
    public static func releaseEnds() { mask(SIG_UNBLOCK) }

    private static func mask(_ how: Int32) {
        var ends = sigset_t()
        unsafe sigemptyset(&ends)
        for number in [SIGTERM, SIGINT, SIGQUIT] { unsafe sigaddset(&ends, number) }
        unsafe pthread_sigmask(how, &ends, nil)
    }
}

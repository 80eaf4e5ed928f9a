/// What becomes of a new connection.
enum Admission {
    case stays
    /// It is to be offered again after a moment: others have been idle for too short a time to be closed for it.
    case waits
    /// It is answered 503 and closed, for the limit that the event names.
    case refused(Acceptor.Event)
}

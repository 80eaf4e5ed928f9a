/// What becomes of a new connection.
enum Admission: Equatable {
    case stays
    /// It is to be offered again after a moment: others have been idle for too short a time to be closed for it.
    case waits
    /// It gets 503 and closed, for the limit that the event names.
    case rejected(Acceptor.Event)
}

/// What the counters must remember of a call from its start to its end.
///
/// Kept in the call, on the thread of the counters that made it.
public struct StartedCall {
    let callProtocol: CallProtocol
    /// The number of the method in the table; 0 while it is not counted by name.
    var method: Int32 = 0
    /// Whether the call is already in a `started` count.
    var isCounted = false

    init(callProtocol: CallProtocol) {
        self.callProtocol = callProtocol
    }
}

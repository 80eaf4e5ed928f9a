internal import HTTP

/// A call that holds memory and does not go on, or a connection of such calls.
///
/// Valid within one turn of its loop.
struct StalledCall {
    typealias Exchange = (stream: any HTTPStream, user: (any HTTPStreamUser)?)

    /// How much it holds, and how long it has not moved.
    let memory: StalledMemory
    private let connection: CallerConnection
    /// The exchange of the call; none for the connection as a whole.
    private let exchange: Exchange?

    init(_ memory: StalledMemory, connection: CallerConnection, exchange: Exchange? = nil) {
        self.memory = memory
        self.connection = connection
        self.exchange = exchange
    }

    /// Ends it.
    ///
    /// - Returns: how many calls ended.
    func shed() -> Int {
        connection.shed(exchange)
    }
}

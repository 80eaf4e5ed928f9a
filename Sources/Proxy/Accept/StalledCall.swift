internal import HTTP

/// A call that holds memory for somebody who does not take it: its caller, its upstream or an interceptor.
///
/// Good within a turn of its loop.
struct StalledCall {
    /// How many bytes it holds.
    let bytes: Int
    fileprivate let stream: any HTTPStream
    fileprivate let user: (any HTTPStreamUser)?
    fileprivate let connection: CallerConnection

    init(bytes: Int, stream: any HTTPStream, user: (any HTTPStreamUser)?, connection: CallerConnection) {
        self.bytes = bytes
        self.stream = stream
        self.user = user
        self.connection = connection
    }

    /// Ends it.
    func shed() {
        connection.shed(stream, user)
    }
}

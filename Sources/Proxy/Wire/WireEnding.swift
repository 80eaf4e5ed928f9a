internal import Time

extension Wire {
    /// The way in which a wire ends once its output is sent.
    enum Ending {
        /// Closes the connection.
        case orderly
        /// Reads and discards input for a while before the close, so that the last response is not lost.
        case lingering
        /// Resets the connection, so that the peer cannot take a part of a response for the whole.
        case reset
    }

    /// The progress of output before a reset.
    struct Reset {
        /// The number of bytes without an acknowledgement at the last check, and the time of its last change.
        let unacknowledged: Int, since: Instant
    }
}

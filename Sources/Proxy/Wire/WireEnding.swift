internal import Time

extension Wire {
    /// How a wire ends once its output is sent.
    enum Ending {
        /// It closes.
        case orderly
        /// It reads on for a while, so that the last response is not lost.
        case lingering
        /// It is reset, so that the peer cannot take what it has got for the whole.
        case reset
    }

    /// What a reset waits for.
    struct Reset {
        /// How much the peer had not acknowledged when that was last looked at, and when it last changed.
        let unacknowledged: Int, since: Instant
    }
}

public import Time

/// The fetch of a response that is to be stored; others that want the same wait for it.
///
/// Belongs to the call that does it, and is ended once. A value: safe on any thread.
public struct CacheFlight: Sendable {
    /// The key without what `vary` adds to it.
    let primary: [UInt8]
    /// The key by which others wait.
    let key: [UInt8]
    /// Tells it from others by the same key.
    let number: Int
    /// The hash of the name of its target.
    public let resource: Int
    /// How its target was when it began.
    let stamp: CacheStamp
    /// When it began.
    public let began: Instant

    /// What has come of it.
    public enum End: Sendable {
        /// The response is stored.
        case stored(CachedResponse, VaryNames)
        /// The response is not stored, and the next ones likely are not either: none waits for another for a while.
        case passed
        /// The upstream has failed.
        case failed
        /// The response is not stored this time.
        case dropped
        /// Nobody wants the response any more.
        case abandoned
    }
}

/// A call that waits for a flight.
public struct CacheWaiter: Sendable {
    /// What is told to it.
    public enum Word: Sendable {
        /// Something has changed: it is decided anew what becomes of it.
        case decideAnew
        /// It goes upstream at once, by itself.
        case goOn
        /// Likewise, unless it can have what is stale.
        case upstreamFailed
    }

    /// Tells it apart.
    let number: Int
    /// Wakes it, from any thread.
    public let wake: @Sendable (Word) -> Void

    /// Makes a waiter.
    ///
    /// - Parameters:
    ///   - number: the number that it was given.
    ///   - wake: wakes it.
    public init(_ number: Int, wake: @escaping @Sendable (Word) -> Void) {
        (self.number, self.wake) = (number, wake)
    }
}

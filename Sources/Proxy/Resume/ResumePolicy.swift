public import Policy
public import Time

/// How responses that break off are resumed.
public struct ResumePolicy: Sendable {
    /// How often one response is resumed at most.
    public let max: Int
    /// How long to wait before that.
    public let delay: RetryDelay
    /// After how long without a byte a response counts as broken off; nil for never.
    public let stalled: Duration?

    /// Makes a policy.
    public init(max: Int, delay: RetryDelay, stalled: Duration?) {
        (self.max, self.delay, self.stalled) = (max, delay, stalled)
    }
}

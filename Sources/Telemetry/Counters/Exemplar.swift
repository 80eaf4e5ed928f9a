public import Time

/// The span of a call that is exported, and when the call ended.
public struct ExportedSpan: Equatable, Sendable {
    /// The trace and the span.
    public let context: TraceContext
    /// When the call ended.
    public let end: WallTime

    /// Names the span of a call that has ended.
    public init(_ context: TraceContext, end: WallTime) { (self.context, self.end) = (context, end) }
}

/// A call whose trace shows what a bucket of a histogram counts.
public struct Exemplar: Equatable, Sendable {
    /// The span of the call.
    public let span: ExportedSpan
    /// The duration that the bucket has counted, in nanoseconds.
    public let nanoseconds: Int

    /// The later of two.
    func later(_ other: Exemplar) -> Exemplar { other.span.end > span.end ? other : self }
}

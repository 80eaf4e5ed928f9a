public import Proxy

extension Registry {
    /// The kinds that come with Martlet.
    ///
    /// A new kind is one folder here and one line here.
    public static let builtIn = Registry(kinds: [
        TokenPlan.kind,
        HeadersPlan.kind,
        RewritePlan.kind,
        DeadlinePlan.kind,
        LimitPlan.kind,
        MetricsPlan.kind,
        LogPlan.kind,
        TracePlan.kind,
        RecordPlan.kind,
        RejectPlan.kind,
        RespondPlan.kind,
        CachePlan.kind,
        MockPlan.kind,
        CallPlan.kind,
        RedactPlan.kind,
        ErrorPlan.kind,
        ValidatePlan.kind,
        ResumePlan.kind,
        FaultPlan.kind,
        MessagePlan.kind,
    ])
}

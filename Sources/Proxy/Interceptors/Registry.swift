/// The kinds of interceptors.
enum Registry {
    /// All kinds, in the order of the reference page.
    ///
    /// A new kind is one file in this folder and one line here.
    static let kinds: [InterceptorKind] = [
        TokenInterceptor.kind,
        HeadersInterceptor.kind,
        MetricsInterceptor.kind,
        LogInterceptor.kind,
        RejectInterceptor.kind,
        RespondInterceptor.kind,
    ]
}

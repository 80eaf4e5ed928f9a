internal import Configuration
internal import HTTP
internal import Proxy
internal import Time

/// Puts a credential into a header of every request, and has a call retried whose credential the upstream has rejected.
struct TokenPlan: InterceptorPlan, Redacting, DependsOnCaller {
    let events: EventSet
    /// Where the token comes from; nil if that is wrong.
    let source: TokenTemplate?
    let header: FieldName
    let format: TokenFormat
    let bounds: TokenBounds
    let error: OnError
    let waitTimeout: Duration
    let callerParts: Set<String>

    init(_ section: Section, _ context: BuildContext) {
        header = HeaderName.checked(section.string("header"), at: "header", of: section)
        format = TokenFormat(section)
        bounds = TokenBounds(section, header: header, context.resources.acquired)
        error = OnError(section)
        waitTimeout = section.duration("wait") ?? .max
        source = TokenTemplate(section, context)
        // A call without the phantom token is rejected, and so only those with it may have the response.
        let phantoms = bounds.secretHeaders.map { "header:\(String(decoding: $0.bytes, as: UTF8.self))" }
        callerParts = Set(phantoms)
        let ahead = section.duration("refresh_ahead") ?? .zero
        if let constant = source?.constant {
            let credential = NamedCredential(name: context.name, source: constant, refreshAhead: ahead)
            context.resources.credentials.append(credential)
        }
        let mayRetry = section.bool("retry") && (source?.constant?.mayChange ?? true)
        events = mayRetry ? [.requestHead, .errors, .retries, .finishedRetries] : .requestHead
    }

    var redactions: Redactions { Redactions(headers: [header] + bounds.secretHeaders) }

    func rejection(of upstream: UpstreamSettings) -> String? { bounds.rejection(of: upstream) }

    func instance(on worker: WorkerServices) -> any Interceptor { TokenInterceptor(self, on: worker) }
}

internal import Caching
internal import Configuration
internal import Events
internal import HTTP
internal import Proxy
internal import RPC
internal import Time

/// Gives callers responses that came for others before (RFC 9111).
struct CachePlan: InterceptorPlan, SharesResponses {
    static let kind = InterceptorKind(
        name: "cache",
        summary: """
            Stores responses to GET requests, and to unary RPCs that you list, and serves them again while they are \
            fresh (RFC 9111). The interceptors before it see each call, those after it only what goes to the upstream.
            """,
        rewrites: true,
        options: [
            Option("in", .string, required: true, example: "small", "The name of a cache in `caches`."),
            Option(
                "key",
                .string,
                example: "\"{header:x-tenant}\"",
                """
                A template. Callers share a response only if its value is the same. Interceptors after the cache may \
                depend only on what it names.
                """
            ),
            Option(
                "heuristic",
                .string,
                example: "10%",
                """
                How long a response without explicit freshness is fresh: a share of the time since `last-modified`, at \
                most 24h. By default Martlet does not store such responses.
                """
            ),
            Option(
                "stale_if_error",
                .duration,
                example: "10m",
                """
                How long Martlet serves a stale response if the upstream fails or responds with 500, 502, 503 or 504. \
                A lower limit of the response applies.
                """
            ),
            Option(
                "stale_while_revalidate",
                .duration,
                example: "30s",
                """
                How long Martlet serves a stale response while it fetches a new one. A lower limit of the response \
                applies.
                """
            ),
            Option(
                "cookies",
                .choice(["ignore"]),
                "`ignore` serves requests with cookies like those without. By default they pass by the cache."
            ),
            Option(
                "wait",
                .duration,
                default: "5s",
                """
                How long a call waits for the same response that another call fetches, before it fetches it too. With \
                `0s` or `none` it does not wait.
                """
            ),
            Option("rpc", .section(CacheMethods.options), "The unary RPCs to store, in addition to Connect GET."),
        ],
        shorthand: "in",
        plan: { CachePlan($0, $1) }
    )

    let events: EventSet
    let settings: CacheSettings?
    let rule: CacheRule
    /// Tells callers apart that are not to share responses; nil if all may.
    let key: Template?
    let keyParts: Set<String>
    let ignoresCookies: Bool
    let waitLimit: Duration
    let methods: CacheMethods?
    /// What stands around it.
    let around: CacheSurroundings

    init(_ section: Section, _ context: BuildContext) {
        let name = section.string("in")
        let caches = context.resources.caches
        settings = caches.first { $0.name == name }
        if settings == nil {
            let known = caches.map(\.name)
            let advice = known.isEmpty ? "add it below \"caches\"" : Suggestion.text(for: name, among: known)
            section.report("no cache is named \(Diagnostic.quote(name)); \(advice)", at: "in")
        }
        rule = CacheRule(
            heuristic: Self.heuristic(section),
            staleIfError: section.duration("stale_if_error"),
            staleWhileRevalidate: section.duration("stale_while_revalidate")
        )
        let key = section.marked("key").map { Template($0.text, at: $0.mark, into: section.diagnostics) }
        if key?.constant != nil {
            section.report(
                "\"key\" is the same for all calls; write a placeholder, such as {header:x-tenant}",
                at: "key"
            )
        }
        self.key = key
        keyParts = key?.callerParts ?? []
        ignoresCookies = section.string(ifGiven: "cookies") != nil
        waitLimit = section.duration("wait") ?? .zero
        methods = section.has("rpc") ? CacheMethods(section.section("rpc")) : nil
        around = CacheSurroundings(
            chain: context.chain.filter { !CallerDependence.watches($0.kind) },
            place: context.chain.prefix { $0.name != context.name }.count { $0.kind == Self.kind.name },
            calls: context.resources.calls.settings,
            mocks: context.resources.mocks
        )
        var events: EventSet = [.requestHead, .responseHead, .responseBytes, .finished]
        if methods != nil { events.formUnion([.requestMessages, .requestEnd]) }
        self.events = events
    }

    private static func heuristic(_ section: Section) -> Double {
        guard let text = section.string(ifGiven: "heuristic") else { return 0 }
        if text.hasSuffix("%"), let share = Int(text.dropLast()), 1...100 ~= share { return Double(share) / 100 }
        let problem = "\"heuristic\" cannot be \(Diagnostic.quote(text))"
        section.report("\(problem); write a share from 1% to 100%, such as 10%", at: "heuristic")
        return 0
    }

    func instance(on worker: WorkerServices) -> any Interceptor { CacheInterceptor(self, on: worker) }
}

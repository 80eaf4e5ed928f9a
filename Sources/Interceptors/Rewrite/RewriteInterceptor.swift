internal import Bytes
internal import Configuration
internal import HTTP
internal import Proxy
internal import RPC

/// Gives requests another path, query or host.
struct RewritePlan: InterceptorPlan {
    static let kind = InterceptorKind(
        name: "rewrite",
        summary:
            "Changes the path, the query and the host of the request. Templates see the request before the changes.",
        rewrites: true,
        options: [
            Option(
                "path",
                .section(PathRule.options, shorthand: "template"),
                "The path without the query: a template, or a rule for a part of the path."
            ),
            Option("query", .section(QueryRules.options), "Rules for the query parameters."),
            Option(
                "authority",
                .string,
                example: "api.example:8443",
                "A template for the host, with an optional port."
            ),
        ],
        plan: { section, _ in RewritePlan(section) }
    )

    let events: EventSet = .requestHead
    let path: PathRule?
    let query: QueryRules?
    let authority: Template?

    init(_ section: Section) {
        path = section.has("path") ? PathRule(section.section("path")) : nil
        query = section.has("query") ? QueryRules(section.section("query")) : nil
        authority = section.marked("authority").map { Template($0.text, at: $0.mark, into: section.diagnostics) }
        if path == nil, query == nil, authority == nil {
            let advice = "add \"path\", \"query\" or \"authority\""
            section.diagnostics.report("the interceptor changes nothing; \(advice)", at: section.mark)
        }
        if let constant = authority?.constant, !HTTPHead.isAuthority(constant.span) {
            section.report(
                "the value is not a valid host; write for example api.example or 127.0.0.1:8080",
                at: "authority"
            )
        }
    }

    func instance(on worker: WorkerServices) -> any Interceptor { RewriteInterceptor(self) }
}

/// Changes the targets of one worker's calls.
final class RewriteInterceptor: Interceptor {
    private let path: PathRule?
    private let query: QueryRules?
    private let authority: Template?
    private let newTarget = ByteQueue(keeping: 256)
    private let newAuthority = ByteQueue(keeping: 64)
    private let scratch = ByteQueue(keeping: 64)

    init(_ plan: RewritePlan) {
        (path, query, authority) = (plan.path, plan.query, plan.authority)
    }

    func requestHead(_ call: Call) -> Verdict {
        let request = call.request
        let (target, host) = (newTarget, newAuthority)
        defer {
            target.removeAll()
            host.removeAll()
        }
        // Nothing is set before all is made: templates may name what is changed.
        authority?.render(for: call, to: host)
        guard make(target, for: call) else {
            let rule = "a path must start with \"/\" and cannot contain spaces, quotes, control characters, ? or #"
            return .reject(RPCError(.internal, "the rendered path is not a valid request path: \(rule)"))
        }
        if authority != nil {
            guard HTTPHead.isAuthority(host.readable) else {
                return .reject(RPCError(.internal, "the rendered host is not a valid host"))
            }
            request.setAuthority(host.readable)
        }
        if !target.readable.equals(request.target) {
            request.setTarget(target.readable)
            request.normalizePath()
        }
        return .next
    }

    /// Makes the new target; false if its path cannot be one.
    private func make(_ target: ByteQueue, for call: Call) -> Bool {
        let request = call.request
        // What is asked of the server as a whole has no path.
        guard !request.path.equals("*") else {
            target.append(request.target)
            return true
        }
        if let path { path.append(call, to: target) } else { target.append(request.path) }
        guard HTTPHead.isPath(target.readable) else { return false }
        if let query {
            query.append(call, to: target, using: scratch)
        } else {
            target.append(request.target.extracting(request.path.count..<request.target.count))
        }
        return true
    }
}

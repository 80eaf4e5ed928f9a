internal import Configuration
internal import Types

/// Warns of routes that bring methods to an upstream that speaks REST, which has no place for calls of them.
struct RESTUpstreamCheck {
    /// As many methods as a warning names.
    private static let maxNames = 3
    /// The protocols that carry streams of messages.
    private static let streaming: Set<String> = ["connect_stream", "grpc", "grpc_web", "grpc_web_text", "rest"]

    private let types: TypeSet
    /// The kinds of interceptors that respond to calls, which then do not reach the upstream.
    private let respondingKinds: Set<String>
    private let diagnostics: Diagnostics

    /// Checks by what `types` has.
    init(_ types: TypeSet, respondingKinds: Set<String>, into diagnostics: Diagnostics) {
        (self.types, self.respondingKinds, self.diagnostics) = (types, respondingKinds, diagnostics)
    }

    /// Checks all routes, of which the first that fits has a call.
    func check(_ settings: Settings) {
        var earlier: [ConditionSettings?] = []
        for route in settings.routes {
            if let upstream = route.upstream.flatMap({ settings.upstream(named: $0) }), upstream.speaks == [.rest] {
                check(route, upstream, settings, behind: MethodScope(earlier))
            }
            if route.match.map(\.asksForMethodAlone) ?? true { earlier.append(route.match) }
        }
    }

    private func check(
        _ route: RouteSettings,
        _ upstream: UpstreamSettings,
        _ settings: Settings,
        behind earlier: MethodScope
    ) {
        let scope = MethodScope(CollectionOfOne(route.match))
        let responding = settings.items(of: route).filter { respondingKinds.contains($0.kind) }
        let served = MethodScope(responding.map(\.when))
        let protocols = route.match?.protocols ?? []
        let carriesStreams = protocols.isEmpty || protocols.contains(where: Self.streaming.contains)
        var (streams, pathless): ([String], [String]) = ([], [])
        for service in types.services {
            for method in service.methods
            where scope.contains(method, of: service) && !earlier.contains(method, of: service)
                && !served.contains(method, of: service)
            {
                if method.streams {
                    if carriesStreams { streams.append(method.fullName) }
                } else if !method.restBindings.contains(where: { $0.httpMethod != [UInt8(ascii: "*")] }) {
                    pathless.append(method.fullName)
                }
            }
        }
        let mark = route.match?.mark ?? route.mark
        let name = Diagnostic.quote(upstream.name)
        let advice = "route them to another upstream"
        if !streams.isEmpty {
            let problem = "calls of \(Self.list(streams)) end with unimplemented: upstream \(name) speaks REST"
            diagnostics.warn("\(problem), which has no streams; \(advice)", at: mark)
        }
        // Types may be there for other upstreams too: only what a route names is meant for this one.
        let namesMethods = route.match.map { !$0.services.isEmpty || !$0.methods.isEmpty || !$0.paths.isEmpty } ?? false
        guard !pathless.isEmpty, namesMethods else { return }
        let problem = "calls of \(Self.list(pathless)) end with unimplemented: upstream \(name) speaks REST"
        diagnostics.warn("\(problem), and the methods have no path; add google.api.http, or \(advice)", at: mark)
    }

    private static func list(_ names: [String]) -> String {
        let more = names.count - maxNames
        return names.prefix(maxNames).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
}

extension ConditionSettings {
    /// Whether the condition holds for each call of the methods that it lets through.
    fileprivate var asksForMethodAlone: Bool {
        httpMethods.isEmpty && hosts.isEmpty && headers.isEmpty && peerUsers.isEmpty && peerGroups.isEmpty
            && peerUnits.isEmpty && protocols.isEmpty && codes.isEmpty
    }
}

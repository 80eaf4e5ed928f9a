extension Settings {
    /// Reports what is wrong between the parts of a file.
    ///
    /// - Parameters:
    ///   - section: the root of the file.
    ///   - respondingKinds: the kinds of interceptors that respond to calls.
    ///   - chainsAreWhole: whether everything that chains include was found; what is missing might respond.
    func check(_ section: Section, respondingKinds: Set<String>, chainsAreWhole: Bool) {
        checkListeners(section)
        checkRouteNames(section.diagnostics)
        checkReferences(section)
        checkTypes(section)
        checkPorts(section.diagnostics)
        if chainsAreWhole { checkDestinations(section, respondingKinds) }
    }

    private func checkListeners(_ section: Section) {
        if !section.has("listeners"), !section.has("listen") {
            section.diagnostics.report(
                "there is nothing to listen on; add for example listen: 127.0.0.1:8080",
                at: section.mark
            )
        } else if case .sequence([])? = section.node("listeners")?.content {
            section.report("there is nothing to listen on; write an address such as 127.0.0.1:8080", at: "listeners")
        }
        var taken: [ListenAddress: Mark] = [:]
        let addresses = listeners.map { ($0.address, $0.mark) } + admin.map { ($0.address, $0.mark) }
        for (address, mark) in addresses.sorted(by: { $0.1 < $1.1 }) {
            if case .tcp(_, port: 0) = address { continue }
            if let part = address.expanded.first(where: { taken[$0] != nil }), let first = taken[part] {
                let problem = part == address ? "\(address)" : "\(address) includes \(part), which"
                let advice = "give each listener its own address"
                section.diagnostics.report("\(problem) is already used on line \(first.line); \(advice)", at: mark)
            }
            for part in address.expanded where taken[part] == nil { taken[part] = mark }
        }
    }

    /// Reports ports that a sandbox with fixed ports cannot know.
    private func checkPorts(_ diagnostics: Diagnostics) {
        guard sandbox.isOn, sandbox.fixesPorts else { return }
        for need in diagnostics.needs where need.kind == .connectsAnywhere {
            let problem = "these addresses have ports that are known only at run time"
            diagnostics.report("\(problem); write a list of addresses, or sandbox: { ports: any }", at: need.mark)
        }
    }

    private func checkRouteNames(_ diagnostics: Diagnostics) {
        var taken: [String: Mark] = [:]
        for name in routes.compactMap(\.name) {
            let quoted = Diagnostic.quote(name.text)
            if let problem = RouteSettings.problem(withName: name.text) {
                diagnostics.report("\(quoted) \(problem)", at: name.mark)
            } else if let first = taken[name.text] {
                let problem = "the name \(quoted) is already used on line \(first.line)"
                diagnostics.report("\(problem); give each route its own name", at: name.mark)
            } else {
                taken[name.text] = name.mark
            }
        }
    }

    private func checkReferences(_ section: Section) {
        let upstreamNames = section.named("upstreams").map(\.name)
        let chainNames = chains.map(\.name)
        let (knownUpstreams, knownChains) = (Set(upstreamNames), Set(chainNames))
        for route in section.sections("routes") {
            if let name = route.string(ifGiven: "upstream"), !knownUpstreams.contains(name) {
                let suggestion = Suggestion.text(for: name, among: upstreamNames)
                route.report("no upstream is named \(Diagnostic.quote(name)); \(suggestion)", at: "upstream")
            }
            if let name = route.string(ifGiven: "chain"), !knownChains.contains(name) {
                let suggestion = Suggestion.text(for: name, among: chainNames)
                route.report("no chain is named \(Diagnostic.quote(name)); \(suggestion)", at: "chain")
            }
        }
    }

    /// Reports upstreams for whose calls Martlet has to know types that it does not.
    private func checkTypes(_ section: Section) {
        checkReflection(section.section("types").section("reflection"), section)
        guard types.files.isEmpty, !section.section("types").has("reflection") else { return }
        let advice = "add for example types: { files: [/etc/martlet/shop.binpb] }"
        for upstream in section.named("upstreams").map(\.section) {
            if upstream.has("codecs") {
                upstream.report("\"codecs\" has no effect without \"types\"; \(advice)", at: "codecs")
            } else if upstream.strings("speaks") == ["rest"] {
                upstream.report("\"rest\" has no effect without \"types\"; \(advice)", at: "speaks")
            } else if let speaks = upstream.node("speaks"), upstream.strings("speaks").first == "connect" {
                let problem = "gRPC and gRPC-Web calls to this upstream end with unimplemented without \"types\""
                upstream.diagnostics.warn("\(problem); \(advice)", at: speaks.mark)
            }
        }
    }

    /// Reports an upstream that cannot be asked for its types.
    private func checkReflection(_ reflection: Section, _ section: Section) {
        guard let name = reflection.string(ifGiven: "upstream") else { return }
        let names = section.named("upstreams").map(\.name)
        guard names.contains(name) else {
            let suggestion = Suggestion.text(for: name, among: names)
            return reflection.report("no upstream is named \(Diagnostic.quote(name)); \(suggestion)", at: "upstream")
        }
        guard let upstream = upstream(named: name) else { return }
        if upstream.url.scheme == .http {
            let problem = "reflection needs gRPC, but \(upstream.url) is HTTP/1.1"
            reflection.report("\(problem); write an h2c:// or https:// URL for \(name)", at: "upstream")
        } else if !upstream.speaks.isEmpty, !upstream.speaks.contains(.grpc) {
            let problem = "reflection needs gRPC, but the upstream \(Diagnostic.quote(name)) does not speak it"
            reflection.report("\(problem); add grpc to its \"speaks\"", at: "upstream")
        }
    }

    /// Reports routes whose calls end nowhere.
    private func checkDestinations(_ section: Section, _ respondingKinds: Set<String>) {
        // A bad `upstream` or `upstreams` was reported already.
        guard !section.has("upstream"), section.node("upstreams").map({ $0.entries != nil }) ?? true else { return }
        let hasUpstreams = !section.named("upstreams").isEmpty
        let isImplied = section.sections("routes").isEmpty
        let respondingChains = Set(
            chains.filter { $0.items.contains { respondingKinds.contains($0.kind) } }.map(\.name)
        )
        let knownChains = Set(chains.map(\.name))
        let defaultResponds = interceptors.contains { respondingKinds.contains($0.kind) }
        for route in routes where route.upstream == nil {
            let responds =
                route.chain.map { respondingChains.contains($0) || !knownChains.contains($0) } ?? defaultResponds
            guard !responds else { continue }
            let message =
                switch (hasUpstreams, isImplied) {
                case (false, _): "nothing can respond to these calls; add for example upstream: http://127.0.0.1:9000"
                case (true, true): "there are several upstreams, but no routes; add routes that select an upstream"
                case (true, false): "there are several upstreams, but this route names none; add upstream: and a name"
                }
            section.diagnostics.report(message, at: route.mark)
        }
    }
}

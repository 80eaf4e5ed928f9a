extension Settings {
    /// Reports what is wrong between the parts of a file.
    func check(_ section: Section, answeringKinds: Set<String>) {
        checkListeners(section)
        checkReferences(section)
        checkDestinations(section, answeringKinds)
    }

    private func checkListeners(_ section: Section) {
        if !section.has("listeners"), !section.has("listen") {
            section.diagnostics.report("nothing to listen on; add for example listen: 127.0.0.1:8080", at: section.mark)
        } else if section.has("listeners"), section.sections("listeners").isEmpty, listeners.isEmpty {
            guard case .sequence? = section.node("listeners")?.content else { return }
            section.report("nothing to listen on; name an address like 127.0.0.1:8080", at: "listeners")
        }
        var taken: [ListenAddress: Mark] = [:]
        let addresses = listeners.map { ($0.address, $0.mark) } + (admin.map { [($0.address, $0.mark)] } ?? [])
        for (address, mark) in addresses.sorted(by: { $0.1 < $1.1 }) {
            if case .tcp(_, port: 0) = address { continue }
            if let first = taken[address] {
                let problem = "\(address) is taken by line \(first.line)"
                section.diagnostics.report("\(problem); give each listener its own address", at: mark)
            } else {
                taken[address] = mark
            }
        }
    }

    private func checkReferences(_ section: Section) {
        let upstreamNames = section.named("upstreams").map(\.name)
        for route in section.sections("routes") {
            if let name = route.string(ifGiven: "upstream"), !upstreamNames.contains(name) {
                let suggestion = Suggestion.text(for: name, among: upstreamNames)
                route.report("no upstream is named \(Diagnostic.quote(name)); \(suggestion)", at: "upstream")
            }
            if let name = route.string(ifGiven: "chain"), !chains.contains(where: { $0.name == name }) {
                let suggestion = Suggestion.text(for: name, among: chains.map(\.name))
                route.report("no chain is named \(Diagnostic.quote(name)); \(suggestion)", at: "chain")
            }
        }
    }

    /// Reports routes whose calls end nowhere.
    private func checkDestinations(_ section: Section, _ answeringKinds: Set<String>) {
        let hasUpstreams = section.has("upstreams") || section.has("upstream")
        for route in routes where route.upstream == nil {
            let isKnown = route.chain == nil || chains.contains { $0.name == route.chain }
            guard isKnown, !items(of: route).contains(where: { answeringKinds.contains($0.kind) }) else { continue }
            let isImplied = section.sections("routes").isEmpty
            let message =
                switch (hasUpstreams, isImplied) {
                case (false, _): "nothing answers these calls; add for example upstream: http://127.0.0.1:9000"
                case (true, true): "several upstreams and no routes; add routes that say which calls go where"
                case (true, false): "several upstreams, and this route names none; add upstream: and a name"
                }
            section.diagnostics.report(message, at: route.mark)
        }
    }
}

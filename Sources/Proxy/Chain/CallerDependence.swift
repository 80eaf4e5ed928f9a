public import Configuration
internal import HTTP

/// A plan whose interceptor gives responses of one call to others.
public protocol SharesResponses {
    /// What of a caller is a part of the key of a response, as `CallerDependence` names it.
    var keyParts: Set<String> { get }
}

/// A plan whose interceptor sends requests that depend on who calls, by more than the placeholders in its options.
public protocol DependsOnCaller {
    /// What of a caller they depend on, as `CallerDependence` names it.
    var callerParts: Set<String> { get }
}

/// What of a caller a request depends on, beside what it asks for: `header:NAME`, `peer.uid`, `peer.gid` and `peer.unit`.
///
/// The host that it names is a part of what it asks for. Pure; used when a configuration is loaded.
public enum CallerDependence {
    /// The placeholders that tell callers apart.
    private static let placeholders: Set<String> = ["peer.uid", "peer.gid"]
    /// The kinds that have no part in a response, or only limit calls.
    private static let watching: Set<String> = [
        "cache", "deadline", "fault", "limit", "log", "metrics", "record", "redact", "resume", "trace",
    ]
    /// Whether interceptors of a kind have no part in a response.
    public static func watches(_ kind: String) -> Bool { watching.contains(kind) }

    /// What an item behind a cache depends on.
    ///
    /// - Parameters:
    ///   - item: the item.
    ///   - plan: what its options came to.
    ///   - calls: the named calls, whose requests it may send.
    /// - Returns: what it depends on.
    static func parts(of item: ChainItem, _ plan: any InterceptorPlan, _ calls: NamedCalls) -> Set<String> {
        guard !watches(item.kind) else { return [] }
        let own = (plan as? any DependsOnCaller)?.callerParts ?? []
        let named = item.options.scalars.compactMap { calls.call(named: $0)?.callerParts }
        let all = named.reduce(own.union(parts(of: item.options))) { $0.union($1) }
        return all.union(renamed(item.options)).union(parts(of: item.when))
    }

    /// What an item before a cache depends on, where the key does not have what it writes.
    ///
    /// A cache sees `authorization` and `cookie` for what they are, and the target that `rewrite` writes is in its key.
    static func parts(ofWriting item: ChainItem, _ plan: any InterceptorPlan, keyParts: Set<String>) -> Set<String> {
        guard item.kind == "headers" || item.kind == "token" else { return [] }
        let isInKey = { (name: String) in
            ["authorization", "cookie"].contains(name) || keyParts.contains("header:\(name)")
        }
        guard let header = tokenHeader(item) else { return parts(ofRequestRules: item, unless: isInKey) }
        guard !isInKey(header) else { return [] }
        let own = (plan as? any DependsOnCaller)?.callerParts ?? []
        return own.union(parts(of: item.options)).union(parts(of: item.when))
    }

    /// Returns what the values that `headers` writes into requests depend on, and whether it writes them.
    private static func parts(ofRequestRules item: ChainItem, unless isInKey: (String) -> Bool) -> Set<String> {
        let rules = requestRules(item)
        let values = parts(of: rules, unless: isInKey)
        return writes(rules, unless: isInKey) ? values.union(parts(of: item.when)) : values
    }

    /// Whether rules for headers write a header that is not in the key.
    private static func writes(_ rules: Node, unless isInKey: (String) -> Bool) -> Bool {
        switch rules.content {
        case .null: false
        case .scalar(let text, _): !isInKey(text.lowercased())
        case .sequence(let nodes): nodes.contains { writes($0, unless: isInKey) }
        case .mapping(let entries):
            entries.contains { !isInKey($0.key.lowercased()) && writes($0.value, unless: isInKey) }
        }
    }

    /// The rules of `headers` for requests: before a cache, those for responses apply to each call apart.
    private static func requestRules(_ item: ChainItem) -> Node {
        guard let entries = item.options.entries else { return item.options }
        let ofRequests = entries.filter { !["response", "trailers"].contains($0.key) }
        return Node(.mapping(ofRequests), at: item.options.mark)
    }

    /// Whether the part of an item that depends on `missing` may stand before a cache: it writes no request.
    static func mayPrecede(_ item: ChainItem, missing: Set<String>) -> Bool {
        item.kind != "headers" || parts(ofRequestRules: item, unless: { _ in false }).isDisjoint(with: missing)
    }

    /// The header in which an item puts a token; none if it does not.
    static func tokenHeader(_ item: ChainItem) -> String? {
        guard item.kind == "token" else { return nil }
        return item.options.entries?.first { $0.key == "header" }?.value.text?.lowercased() ?? "authorization"
    }

    /// What the texts of some options depend on, without those below a name that `isKnown` returns true for.
    public static func parts(of node: Node, unless isKnown: (String) -> Bool = { _ in false }) -> Set<String> {
        switch node.content {
        case .null: []
        case .scalar(let text, _): parts(of: text)
        case .sequence(let nodes): nodes.reduce(into: []) { $0.formUnion(parts(of: $1, unless: isKnown)) }
        case .mapping(let entries):
            entries.reduce(into: []) { all, entry in
                if !isKnown(entry.key.lowercased()) { all.formUnion(parts(of: entry.value, unless: isKnown)) }
            }
        }
    }

    /// The headers that options give other names.
    private static func renamed(_ node: Node) -> Set<String> {
        switch node.content {
        case .null, .scalar: []
        case .sequence(let nodes): nodes.reduce(into: []) { $0.formUnion(renamed($1)) }
        case .mapping(let entries):
            entries.reduce(into: []) { all, entry in
                let names = entry.key == "rename" ? entry.value.entries?.map(\.key) ?? [] : []
                all.formUnion(names.map { "header:\($0.lowercased())" })
                all.formUnion(renamed(entry.value))
            }
        }
    }

    /// What a text with placeholders depends on; braces that stand twice are none.
    static func parts(of text: String) -> Set<String> {
        var parts: Set<String> = []
        for piece in text.split(separator: "{", omittingEmptySubsequences: false).dropFirst() {
            guard let end = piece.firstIndex(of: "}") else { continue }
            let name = piece[..<end].lowercased()
            if name.hasPrefix("header:") || placeholders.contains(name) { parts.insert(name) }
        }
        return parts
    }

    /// What a condition asks of the caller.
    public static func parts(of condition: ConditionSettings?) -> Set<String> {
        guard let condition else { return [] }
        var parts = Set(condition.headers.map { "header:\($0.name)" })
        if !condition.peerUsers.isEmpty { parts.insert("peer.uid") }
        if !condition.peerGroups.isEmpty { parts.insert("peer.gid") }
        if !condition.peerUnits.isEmpty { parts.insert("peer.unit") }
        return parts
    }
}

extension Template {
    /// What of a caller the value depends on, as `SharesResponses.keyParts` names it.
    public var callerParts: Set<String> {
        pieces.reduce(into: []) { parts, piece in
            switch piece {
            case .header(let name): parts.insert("header:\(String(decoding: name.bytes, as: UTF8.self))")
            case .peerUser: parts.insert("peer.uid")
            case .peerGroup: parts.insert("peer.gid")
            case .text, .host, .upstreamHost, .path, .service, .method, .callID, .parameter: break
            }
        }
    }
}

extension Node {
    /// All scalars in it.
    fileprivate var scalars: [String] {
        switch content {
        case .null: []
        case .scalar(let text, _): [text]
        case .sequence(let nodes): nodes.flatMap(\.scalars)
        case .mapping(let entries): entries.flatMap(\.value.scalars)
        }
    }
}

extension ChainPlan {
    /// Reports interceptors around one that gives responses to other callers, if these depend on who calls.
    func reportSharing(_ items: [ChainItem], _ calls: NamedCalls, into diagnostics: Diagnostics) {
        for (index, link) in links.enumerated() {
            guard let sharing = link.interceptor as? any SharesResponses else { continue }
            for (other, (around, item)) in zip(links, items).enumerated() where other != index {
                let parts =
                    other > index
                    ? CallerDependence.parts(of: item, around.interceptor, calls)
                    : CallerDependence.parts(ofWriting: item, around.interceptor, keyParts: sharing.keyParts)
                let missing = parts.subtracting(sharing.keyParts).sorted()
                if other < index, CallerDependence.tokenHeader(item) == "authorization",
                    !sharing.keyParts.contains("header:authorization")
                {
                    let problem =
                        "requests have the token of \(Diagnostic.quote(item.name)) at the cache, which then serves "
                    diagnostics.warn(
                        "\(problem)only responses that are public; move the cache before it",
                        at: item.kindMark
                    )
                }
                guard !missing.isEmpty else { continue }
                let names = missing.map { "{\($0)}" }.joined(separator: " and ")
                let problem =
                    "\(Diagnostic.quote(item.name)) depends on \(names), but \(Diagnostic.quote(link.name)) gives the "
                    + "responses to other callers"
                let advice = Self.advice(item, missing, names, isBehind: other > index)
                diagnostics.report("\(problem); \(advice)", at: item.kindMark)
            }
        }
    }

    /// Returns advice that loads if it is followed.
    private static func advice(_ item: ChainItem, _ missing: [String], _ names: String, isBehind: Bool) -> String {
        let move = "move \(Diagnostic.quote(item.name)) before it"
        guard !missing.contains("peer.unit") else { return "a \"key\" cannot name units, so \(move)" }
        let key = "add \(names) to its \"key\""
        guard isBehind else { return "\(key), or write that header in it" }
        return CallerDependence.mayPrecede(item, missing: Set(missing)) ? "\(key), or \(move)" : key
    }

    /// Reports what an upstream adds to requests behind an interceptor that gives responses to other callers.
    func reportSharing(of upstream: UpstreamSettings, into diagnostics: Diagnostics) {
        for link in links {
            guard let sharing = link.interceptor as? any SharesResponses else { continue }
            for value in upstream.defaults.headers + upstream.defaults.query {
                let missing = CallerDependence.parts(of: value.text).subtracting(sharing.keyParts).sorted()
                guard !missing.isEmpty else { continue }
                let names = missing.map { "{\($0)}" }.joined(separator: " and ")
                let problem = "\(Diagnostic.quote(value.name)) depends on \(names), but "
                let reason = "\(Diagnostic.quote(link.name)) gives the responses to other callers"
                diagnostics.report("\(problem)\(reason); add \(names) to its \"key\"", at: value.mark)
            }
        }
    }
}

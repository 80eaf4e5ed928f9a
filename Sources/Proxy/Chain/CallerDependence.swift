internal import Configuration
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

/// What of a caller a request depends on, beside what it asks for: `header:NAME`, `host`, `peer.uid`, `peer.gid` and
/// `peer.unit`.
///
/// Pure; used when a configuration is loaded.
enum CallerDependence {
    /// The placeholders that tell callers apart.
    private static let placeholders: Set<String> = ["host", "peer.uid", "peer.gid"]

    /// What the texts of some options depend on.
    static func parts(of node: Node) -> Set<String> {
        switch node.content {
        case .null: []
        case .scalar(let text, _): parts(of: text)
        case .sequence(let nodes): nodes.reduce(into: []) { $0.formUnion(parts(of: $1)) }
        case .mapping(let entries): entries.reduce(into: []) { $0.formUnion(parts(of: $1.value)) }
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
    static func parts(of condition: ConditionSettings?) -> Set<String> {
        guard let condition else { return [] }
        var parts = Set(condition.headers.map { "header:\($0.name)" })
        if !condition.hosts.isEmpty { parts.insert("host") }
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
            case .host: parts.insert("host")
            case .peerUser: parts.insert("peer.uid")
            case .peerGroup: parts.insert("peer.gid")
            case .text, .upstreamHost, .path, .service, .method, .callID, .parameter: break
            }
        }
    }
}

extension ChainPlan {
    /// Reports interceptors that send a caller's own requests behind one that gives the responses to other callers.
    func reportSharing(_ items: [ChainItem], of kinds: Registry, into diagnostics: Diagnostics) {
        for (index, link) in links.enumerated() {
            guard let sharing = link.interceptor as? any SharesResponses else { continue }
            for (later, item) in zip(links, items).dropFirst(index + 1) {
                let missing = Self.parts(later, item, kinds).subtracting(sharing.keyParts).sorted()
                guard let first = missing.first else { continue }
                let names = missing.map { "{\($0)}" }.joined(separator: " and ")
                let problem =
                    "\(Diagnostic.quote(item.name)) depends on \(names), but \(Diagnostic.quote(link.name)) before it "
                    + "gives the responses to other callers"
                let advice =
                    first == "peer.unit" ? "move it before the cache" : "add \(names) to \"key\" of the cache"
                diagnostics.report("\(problem); \(advice)", at: item.kindMark)
            }
        }
    }

    private static func parts(_ link: Link, _ item: ChainItem, _ kinds: Registry) -> Set<String> {
        guard kinds.kind(named: item.kind)?.rewrites == true else { return [] }
        let own = (link.interceptor as? any DependsOnCaller)?.callerParts ?? []
        return own.union(CallerDependence.parts(of: item.options)).union(CallerDependence.parts(of: item.when))
    }
}

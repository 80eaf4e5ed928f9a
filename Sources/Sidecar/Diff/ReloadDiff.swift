internal import Configuration
internal import Policy
internal import Proxy

/// What a reload from one configuration to another touches, by the rules that the daemon itself goes by.
///
/// Names and addresses alone: nothing of it is a secret.
struct ReloadDiff {
    private let old: Plan
    private let new: Plan

    /// Compares two configurations.
    init(from old: Plan, to new: Plan) {
        (self.old, self.new) = (old, new)
    }

    /// One line for each thing, in the order of the new file; what is gone comes after the rest of its kind.
    var lines: [String] {
        listeners + upstreams + tokens + chains + routes + counts + caches + others + fixed
    }

    private var listeners: [String] {
        Self.compared(
            Self.listeners(old.settings),
            Self.listeners(new.settings),
            DiffWords(
                noun: "listener",
                added: "opened",
                removed: "closed, when its connections have ended",
                changed: "kept, with other settings for what begins now"
            )
        )
    }

    private static func listeners(_ settings: Settings) -> [(name: String, value: ListenerSettings)] {
        ListenerSet.keyed(settings.listeners, passed: { _ in 1 }).map { key, settings in
            (key.ordinal == 0 ? "\(key.address)" : "\(key.address) (\(key.ordinal + 1))", settings)
        }
    }

    private var upstreams: [String] {
        let (old, new) = (old, new)
        func pools(_ plan: Plan) -> [(name: String, value: PoolIdentity)] {
            plan.settings.upstreams.compactMap { upstream in plan.pools[upstream.name].map { (upstream.name, $0) } }
        }
        return Self.compared(
            pools(old),
            pools(new),
            DiffWords(
                noun: "upstream",
                added: "added",
                removed: "removed; its connections close after their calls",
                changed: "replaced; new calls open new connections"
            )
        )
    }

    /// Tokens are told apart by where they come from, whatever the interceptor is called.
    private var tokens: [String] {
        let (before, after) = (old.credentials, new.credentials)
        let present = after.map { token in
            let isKept = before.contains { $0.source == token.source }
            let isNamed = before.contains { $0.name == token.name }
            return "token \(token.name) (\(token.source.kind)): "
                + (isKept ? "kept" : isNamed ? "replaced; Martlet gets the new one" : "added")
        }
        let gone = before.filter { token in
            !after.contains { $0.source == token.source || $0.name == token.name }
        }
        return Self.unique(present + gone.map { "token \($0.name) (\($0.source.kind)): removed" })
    }

    private var chains: [String] {
        func chains(_ settings: Settings) -> [(name: String, value: [ChainItem])] {
            [("interceptors", settings.interceptors)] + settings.chains.map { ($0.name, $0.items) }
        }
        return Self.compared(chains(old.settings), chains(new.settings), DiffWords(noun: "chain"))
    }

    private var routes: [String] {
        func routes(_ settings: Settings) -> [(name: String, value: RouteSettings)] {
            settings.routes.enumerated().map { ($1.name?.text ?? "\($0)", $1) }
        }
        let (before, after) = (routes(old.settings), routes(new.settings))
        let isReordered =
            before.map(\.name) != after.map(\.name) && before.map(\.name).sorted() == after.map(\.name).sorted()
        return Self.compared(before, after, DiffWords(noun: "route"))
            + (isReordered ? ["routes: in another order"] : [])
    }

    private var counts: [String] {
        let (before, after) = (old.sharedLimits, new.sharedLimits)
        let present = after.map { limit in
            let isNamed = before.contains { $0.name == limit.name }
            return "count \(limit.name) (limit): "
                + (before.contains(limit) ? "kept" : isNamed ? "replaced; it starts at zero" : "added")
        }
        let gone = before.filter { limit in !after.contains { $0.name == limit.name } }
        return present + gone.map { "count \($0.name) (limit): removed" }
    }

    private var caches: [String] {
        Self.compared(
            old.settings.caches.map { ($0.name, $0) },
            new.settings.caches.map { ($0.name, $0) },
            DiffWords(noun: "cache", changed: "replaced; it starts empty")
        )
    }

    /// Settings that a reload takes as a whole.
    private var others: [String] {
        let (old, new) = (old.settings, new.settings)
        let differing = [
            ("calls", old.calls != new.calls), ("mocks", old.mocks != new.mocks), ("types", old.types != new.types),
            ("telemetry", old.telemetry != new.telemetry), ("limits", old.limits != new.limits),
            ("drain", old.drain != new.drain), ("log_level", old.logLevel != new.logLevel),
        ]
        return differing.filter(\.1).map { "\($0.0): changed" }
    }

    private var fixed: [String] {
        FixedSettings(old.settings).keys(changedBy: FixedSettings(new.settings)).map { "\($0): requires a restart" }
    }

    private static func compared<Value: Equatable>(
        _ old: [(name: String, value: Value)],
        _ new: [(name: String, value: Value)],
        _ words: DiffWords
    ) -> [String] {
        let present = new.map { name, value in
            guard let before = old.first(where: { $0.name == name }) else { return words.line(name, words.added) }
            return words.line(name, before.value == value ? "kept" : words.changed)
        }
        let gone = old.filter { old in !new.contains { $0.name == old.name } }
        return present + gone.map { words.line($0.name, words.removed) }
    }

    private static func unique(_ lines: [String]) -> [String] {
        var seen: Set<String> = []
        return lines.filter { seen.insert($0).inserted }
    }
}

/// How the lines about one sort of thing say what becomes of it.
private struct DiffWords {
    let noun: String
    var added = "added"
    var removed = "removed"
    var changed = "changed"

    func line(_ name: String, _ words: String) -> String { "\(noun) \(name): \(words)" }
}

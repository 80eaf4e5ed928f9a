public import Time

/// Where the addresses of an upstream come from, how calls are spread over them, and which are left out.
public struct UpstreamAddressSettings: Equatable, Sendable {
    /// Where addresses come from.
    public enum Source: Equatable, Sendable {
        /// The name of the URL; one address is used as long as it works.
        case first
        /// The name of the URL; all of its addresses are used.
        case all
        /// These hosts and ports.
        case list([HostPort])
        /// The SRV records of this name (RFC 2782).
        case service(String)
        /// A file with a host and a port on each line.
        case file(String)
    }

    /// Which address a call goes to.
    public enum Balance: Equatable, Sendable {
        /// Of two drawn at random the one with fewer calls.
        case fewerCalls
        /// One after the other.
        case roundRobin
        /// Always the same for the same value of this template.
        case hash(String)
    }

    /// When an address is left out because of the outcomes of its calls.
    public struct Ejection: Equatable, Sendable {
        /// How many calls in a row have to fail.
        public let failures: Int
        /// The status codes that are failures, by their names.
        public let codes: [String]
        /// The HTTP statuses that are failures.
        public let statuses: [Int]
        /// How long the address is left out at first; twice as long each time that it fails again.
        public let pause: Duration
        /// How long at most.
        public let maxPause: Duration
        /// The percentage of addresses that can be left out; one always can.
        public let share: Int
    }

    /// Where the addresses come from.
    public let source: Source
    /// Which one a call goes to.
    public let balance: Balance
    /// When one is left out because of outcomes; never if there are no such settings.
    public let ejection: Ejection?
    /// How addresses are checked; not at all if there are no such settings.
    public let health: UpstreamHealthSettings?
    /// When a call goes to several addresses; never if there are no such settings.
    public let hedge: UpstreamHedgeSettings?
    /// Where the template of the hash stands.
    @NotCompared public private(set) var balanceMark: Mark

    /// Whether calls are spread over several addresses.
    public var isBalanced: Bool { source != .first }

    /// Whether the addresses are known without a look-up, or ought to be in a file.
    public var isKnownAtOnce: Bool {
        switch source {
        case .list(let hosts): hosts.allSatisfy { IPAddress($0.host) != nil }
        case .file: true
        case .first, .all, .service: false
        }
    }

    static let options = [
        Option(
            "addresses",
            .node,
            example: "all",
            """
            Where the addresses come from: `all` that the name of the URL has, a list of `host:port`, `{ srv: NAME }` \
            for SRV records, or `{ file: PATH }` for a file with a `host:port` on each line. `first` uses one address \
            as long as it works. The default is `all`, and `first` for `localhost`.
            """
        ),
        Option(
            "balance",
            .node,
            example: "round_robin",
            """
            The address of a call: of two at random the one with fewer calls (`least_requests`, the default), one after \
            the other (`round_robin`), or the same for the same value (`{ hash: "{header:x-user}" }`).
            """
        ),
        Option(
            "eject",
            .section(ejectionOptions, shorthand: "failures"),
            "Leaves an address out whose calls fail. Without it only addresses without a connection are left out."
        ),
        Option(
            "health",
            .section(UpstreamHealthSettings.options),
            "Checks every address again and again, and leaves those out that fail."
        ),
        Option(
            "hedge",
            .section(UpstreamHedgeSettings.options),
            """
            Sends a call without a response to another address too, and uses the first response. Each such attempt \
            counts for `retry_budget`.
            """
        ),
    ]

    private static let ejectionOptions = [
        Option(
            "failures",
            .integer(in: 1...1000),
            required: true,
            example: "5",
            "The number of calls in a row that have to fail."
        ),
        Option(
            "codes",
            .choices(ConditionSettings.codeNames),
            example: "[unavailable]",
            "The status codes that are failures."
        ),
        Option(
            "statuses",
            .integers(in: 100...599),
            example: "[502, 503, 504]",
            "The HTTP statuses that are failures."
        ),
        Option(
            "for",
            .timeout,
            default: "1s",
            "How long the address is left out. It doubles when the address fails again."
        ),
        Option("max", .timeout, default: "1m", "The longest time that it is left out."),
        Option(
            "share",
            .integer(in: 1...100),
            default: "50",
            "The percentage of the addresses that can be left out at once. One always can."
        ),
    ]

    /// Reads the options of an upstream and reports what is wrong with them.
    init(_ section: Section, _ url: UpstreamURL) {
        source = Self.source(section, url)
        balance = Self.balance(section)
        balanceMark = section.mark(of: "balance")
        ejection = section.has("eject") ? Self.ejection(section.section("eject")) : nil
        health = section.has("health") ? UpstreamHealthSettings(section.section("health"), url) : nil
        hedge = section.has("hedge") ? UpstreamHedgeSettings(section.section("hedge")) : nil
        guard case .first = source, case .scalar("first", _)? = section.node("addresses")?.content else { return }
        for key in ["balance", "eject", "health", "hedge"] where section.has(key) {
            section.report(
                "\"\(key)\" has no effect with one address; write several \"addresses\", or remove it",
                at: key
            )
        }
    }

    private static func ejection(_ section: Section) -> Ejection {
        let pause = section.duration("for") ?? .second
        let maxPause = section.duration("max") ?? pause
        if maxPause < pause {
            let (key, problem) = section.has("max") ? ("max", "shorter than \"for\"") : ("for", "longer than \"max\"")
            section.report(
                "\"\(key)\" cannot be \(problem), which is \(key == "max" ? pause.text : maxPause.text)",
                at: key
            )
        }
        if section.strings("codes").contains("ok") {
            section.report("\"codes\" cannot be ok, which is success; write codes of failures", at: "codes")
        }
        return Ejection(
            failures: section.integer("failures"),
            codes: section.has("codes") ? section.strings("codes") : ["unavailable"],
            statuses: section.has("statuses") ? section.integers("statuses") : [502, 503, 504],
            pause: max(pause, .millisecond),
            maxPause: max(pause, maxPause),
            share: section.integer("share")
        )
    }

    private static func balance(_ section: Section) -> Balance {
        guard let node = section.node("balance") else { return .fewerCalls }
        switch node.content {
        case .scalar("least_requests", _): return .fewerCalls
        case .scalar("round_robin", _): return .roundRobin
        case .mapping(let entries) where entries.count == 1 && entries[0].key == "hash":
            if case .scalar(let text, _) = entries[0].value.content { return .hash(text) }
        default: break
        }
        let advice = "write least_requests, round_robin, or { hash: \"{header:x-user}\" }"
        section.report("\"balance\" cannot be \(node.summary); \(advice)", at: "balance")
        return .fewerCalls
    }

    private static func source(_ section: Section, _ url: UpstreamURL) -> Source {
        guard case .tcp(let address) = url.endpoint else {
            if section.has("addresses") {
                section.report("\"addresses\" has no effect with a Unix socket; remove it", at: "addresses")
            }
            return .first
        }
        // The addresses of this machine are no replicas.
        let isOne = IPAddress(address.host) != nil || address.host == "localhost"
        guard let node = section.node("addresses") else { return isOne ? .first : .all }
        switch node.content {
        case .scalar("first", _): return .first
        case .scalar("all", _): return IPAddress(address.host) == nil ? .all : .first
        case .sequence(let items): return .list(list(items, address.port, section))
        case .mapping(let entries):
            if entries.count == 1, case .scalar(let text, _) = entries[0].value.content {
                switch entries[0].key {
                case "srv" where HostPort(text.replacing("_", with: "a"), defaultPort: 1) != nil:
                    section.diagnostics.note(SystemNeed(.connectsAnywhere, at: entries[0].value.mark))
                    return .service(text.lowercased())
                case "file" where text.hasPrefix("/"):
                    section.diagnostics.note(SystemNeed(.reads(text), at: entries[0].value.mark))
                    section.diagnostics.note(SystemNeed(.connectsAnywhere, at: entries[0].value.mark))
                    return .file(text)
                case "srv", "file":
                    let advice =
                        entries[0].key == "srv" ? "a name such as _grpc._tcp.orders.example" : "an absolute path"
                    let problem = "\"\(entries[0].key)\" cannot be \(Diagnostic.quote(text)); write \(advice)"
                    section.diagnostics.report(problem, at: entries[0].value.mark)
                    return .first
                default: break
                }
            }
            let keys = entries.map(\.key).filter { $0 != "srv" && $0 != "file" }
            let problem = keys.isEmpty ? "\"addresses\" takes one key" : "unknown key \(Diagnostic.quote(keys[0]))"
            section.report("\(problem); write { srv: NAME } or { file: PATH }", at: "addresses")
            return .first
        default: break
        }
        let advice =
            "write all, first, a list of host:port, { srv: _grpc._tcp.orders.example } or { file: /run/orders.addresses }"
        section.report("\"addresses\" cannot be \(node.summary); \(advice)", at: "addresses")
        return .first
    }

    private static func list(_ items: [Node], _ port: UInt16, _ section: Section) -> [HostPort] {
        if items.isEmpty { section.report("\"addresses\" is empty; write a list of host:port", at: "addresses") }
        var hosts: [HostPort] = []
        var known: Set<HostPort> = []
        for item in items {
            guard case .scalar(let text, _) = item.content, let host = HostPort(text, defaultPort: port), host.port > 0
            else {
                let problem = "an address cannot be \(item.summary)"
                section.diagnostics.report("\(problem); write a host and a port, such as 10.0.0.1:50051", at: item.mark)
                continue
            }
            if !known.insert(host).inserted {
                section.diagnostics.report("\(host) is in the list already; remove one", at: item.mark)
            }
            hosts.append(host)
            section.diagnostics.note(SystemNeed(.connects(host.port), at: item.mark))
        }
        return hosts
    }
}

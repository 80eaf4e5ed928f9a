internal import Configuration
internal import Events
private import Glibc
internal import Proxy
internal import Telemetry
internal import Time

/// What `martlet status` prints: the state in one line, then the daemon, its sockets, upstreams, credentials and calls.
struct StatusPage {
    /// So many addresses of an upstream are shown, those that are out first.
    private static let maxAddresses = 20

    private let daemon: Daemon
    private let report: Report

    /// Describes the daemon; `report` is what its workers say.
    init(_ daemon: Daemon, _ report: Report) {
        self.daemon = daemon
        self.report = report
    }

    /// The page, without a line feed at its end.
    var text: String {
        (state + sockets + upstreams + credentials + daemon.typesLines + calls).joined(separator: "\n")
            + daemon.certificateLines
    }

    private var state: [String] {
        let uptime = daemon.loop.now - daemon.startTime
        return [
            daemon.readiness.text,
            "martlet \(Version.number), PID \(getpid()), up \(Self.rounded(uptime))",
            "file: \(daemon.file.name)",
            "generation: \(daemon.reloads.generation)",
        ] + generations + [
            "last reload: \(daemon.reloads.lastOutcome)",
            "sandbox: \(daemon.sandbox.fields.map { "\($0)=\($1)" }.joined(separator: " "))",
        ] + lostUpgrade
    }

    private var lostUpgrade: [String] {
        guard daemon.successions.hasLostLauncher else { return [] }
        return ["upgrade: not possible until a restart, because \(Successions.launcherEnded)"]
    }

    /// The configurations that calls go by, where a reload has left calls with an older one.
    private var generations: [String] {
        let used = report.generations.filter { $0.calls > 0 }
        guard used.contains(where: { $0.replaced != nil }) else { return [] }
        return used.map { usage in
            let replaced = usage.replaced.map { ", replaced \(Self.rounded($0)) ago" } ?? ""
            let calls = Self.counted(usage.calls, "call")
            return "  generation \(usage.number): \(calls), loaded \(Self.rounded(usage.age)) ago\(replaced)"
        }
    }

    private var sockets: [String] {
        let listeners = daemon.listeners?.open.values.map(\.name).sorted() ?? []
        let connections = report.counters.openConnections
        return listeners.map { "listener: \($0), \(Self.counted(connections[$0] ?? 0, "connection"))" }
            + daemon.adminAddresses.map { "admin: \($0)" }
    }

    private var upstreams: [String] {
        (daemon.settings?.upstreams ?? []).flatMap { upstream in
            let pool = report.counters.pool(of: upstream.name)
            let connections = "\(Self.counted(pool.active, "active connection")), \(pool.idle) idle"
            let waiting = pool.waiting > 0 ? ", \(Self.counted(pool.waiting, "waiting call"))" : ""
            let error = report.connectErrors[upstream.name].map { ", last error: \($0)" } ?? ""
            let line = "upstream: \(upstream.name), \(upstream.url), \(connections)\(waiting)\(error)"
            let addresses = daemon.addressStates(of: upstream.name, report)
            let shown = addresses.filter { $0.state != .in } + addresses.filter { $0.state == .in }
            let rest = shown.count - Self.maxAddresses
            return [line] + shown.prefix(Self.maxAddresses).map { "  \($0.line)" }
                + (rest > 0 ? ["  and \(rest) more; GET /upstreams has all"] : [])
        }
    }

    private var credentials: [String] {
        daemon.credentialReports.map { credential in
            let error = credential.error.map { ", last error: \($0)" } ?? ""
            let end = credential.state == .expired ? credential.expiryText.map { " at \($0)" } ?? "" : ""
            return "credential: \(credential.name) (\(credential.kind)), \(credential.state.rawValue)\(end)\(error)"
        }
    }

    private var memory: [String] {
        let budget = daemon.budgets.memory
        let short = budget.isExhausted ? "; rejecting new calls" : ""
        return [
            "memory of calls: \(Self.size(budget.used)) of \(Self.size(budget.callLimit))\(short)",
            "memory of connections: \(Self.size(budget.connections)) of \(Self.size(budget.connectionLimit))",
        ]
    }

    private static func size(_ bytes: Int) -> String {
        bytes < 1 << 20 ? "\(max(0, bytes) >> 10) KiB" : "\(bytes >> 20) MiB"
    }

    private var calls: [String] {
        memory + [
            "connections: \(report.connections)",
            "calls in flight: \(report.counters.inFlight)\(stalled)",
            "log lines dropped: \(report.counters.logLinesDropped)",
        ]
    }

    /// The calls that wait for their callers, or for a connection.
    private var stalled: String {
        guard report.stalled.count > 0 else { return "" }
        return ", \(report.stalled.count) stalled, the longest for \(Self.rounded(report.stalled.longest))"
    }

    private static func counted(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }

    /// A length of time in its two largest units: `3d 4h`, `5m 2s`.
    private static func rounded(_ duration: Duration) -> String {
        let seconds = duration.seconds
        let units = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]
        let first = units.firstIndex { seconds >= $0.1 } ?? units.count - 1
        var rest = seconds
        return units[first...].prefix(2).map { unit, length in
            defer { rest %= length }
            return "\(rest / length)\(unit)"
        }
        .joined(separator: " ")
    }
}

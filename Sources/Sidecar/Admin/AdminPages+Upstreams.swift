internal import Bytes
internal import Configuration
internal import Events
internal import Proxy
internal import Telemetry
internal import Time

/// The page about upstreams and their addresses.
extension AdminPages {
    func upstreams(_ respond: @escaping (AdminResponse) -> Void) {
        daemon.ask { [daemon] report in
            let queue = ByteQueue()
            var json = JSONWriter(to: queue)
            json.beginArray("upstreams")
            for upstream in daemon.settings?.upstreams ?? [] {
                json.beginItem(onNewLine: true)
                json.field("name", string: upstream.name)
                json.field("url", string: "\(upstream.url)")
                json.field("source", string: upstream.addresses.sourceText)
                if let error = report.connectErrors[upstream.name] { json.field("last_error", string: error) }
                let states = daemon.addressStates(of: upstream.name, report)
                json.beginArray("addresses")
                for state in states {
                    json.beginItem(onNewLine: true)
                    state.write(to: &json)
                    json.endObject()
                }
                json.endArray()
                json.endObject()
            }
            json.endArray()
            json.end()
            respond(.json(queue))
        }
    }
}

/// One address as people see it.
struct AddressReport {
    /// Whether it gets calls.
    enum State: String, CaseIterable {
        case `in`, out, leaving
    }

    let address: SocketAddress
    let state: State
    let calls: Int
    let connections: Int
    /// What its last health check has come to, if there are any.
    let check: String?
    /// Why it is out, for how long, and in which time it is probed; health checks decide if no time is given.
    let out: (reason: String, time: Duration, left: Duration?)?

    func write(to json: inout JSONWriter) {
        json.field("address", string: "\(address)")
        json.field("state", string: state.rawValue)
        json.field("calls", number: calls)
        json.field("connections", number: connections)
        if let check { json.field("check", string: check) }
        guard let out else { return }
        json.field("reason", string: out.reason)
        json.field("out_ms", milliseconds: out.time)
        if let left = out.left { json.field("probe_in_ms", milliseconds: left) }
    }

    /// The address in one line.
    var line: String {
        let counts = "\(calls == 1 ? "1 call" : "\(calls) calls")"
        let unknown = check == "unknown" ? ", health check without a result" : ""
        guard let out else { return "\(address), \(state.rawValue), \(counts)\(unknown)" }
        let probe =
            out.left.map { $0 > .zero ? ", probe in \(($0 + .second - .nanoseconds(1)).seconds)s" : ", probe due" }
            ?? ""
        return "\(address), out for \(out.time.seconds)s\(probe): \(out.reason)"
    }
}

extension Daemon {
    /// The addresses of an upstream, in order; nothing if its calls are not spread.
    func addressStates(of upstream: String, _ report: Report) -> [AddressReport] {
        let table = budgets.shared.all(AddressTable.self).first { $0.name == upstream }
        var usages: [SocketAddress: AddressUsage] = [:]
        for usage in report.addresses where usage.upstream == upstream {
            if usages[usage.address]?.add(usage) == nil { usages[usage.address] = usage }
        }
        let now = loop.now
        return (table?.states ?? []).compactMap { state in
            let usage = usages[state.address]
            // Workers without calls do not know yet that it is gone.
            let isLeaving = table?.has(state.address) == false
            if isLeaving, usage?.connections ?? 0 == 0, usage?.calls ?? 0 == 0 { return nil }
            let out =
                isLeaving
                ? nil
                : state.out.map { out in
                    (
                        reason: out.reason, time: max(.zero, now - out.since),
                        left: out.until.map { max(.zero, $0 - now) }
                    )
                }
            return AddressReport(
                address: state.address,
                state: isLeaving ? .leaving : out == nil ? .in : .out,
                calls: usage?.calls ?? 0,
                connections: usage?.connections ?? 0,
                check: state.check,
                out: out
            )
        }
    }

    /// The addresses of upstreams by their states, and how often some were put out.
    func addressFamilies(_ report: Report) -> [MetricFamily] {
        var (states, ejections, checks) = ([MetricSample](), [MetricSample](), [MetricSample]())
        for table in budgets.shared.all(AddressTable.self).sorted(by: { $0.name < $1.name }) {
            let reports = addressStates(of: table.name, report)
            guard !reports.isEmpty else { continue }
            for state in AddressReport.State.allCases {
                let count = reports.count { $0.state == state }
                states.append(MetricSample([table.name, state.rawValue], .number(count)))
            }
            for (reason, count) in table.ejections {
                ejections.append(MetricSample([table.name, reason], .number(count)))
            }
            for (result, count) in table.checks {
                checks.append(MetricSample([table.name, result], .number(count)))
            }
        }
        return [
            MetricFamily(.upstreamAddresses, states), MetricFamily(.upstreamEjections, ejections),
            MetricFamily(.upstreamHealthChecks, checks),
        ]
    }
}

extension UpstreamAddressSettings {
    /// Where the addresses come from, for people.
    var sourceText: String {
        switch source {
        case .first: "first"
        case .all: "all"
        case .list: "list"
        case .service(let name): "srv \(name)"
        case .file(let path): "file \(path)"
        }
    }
}

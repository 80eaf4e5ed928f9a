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
    /// Why it is out, and for how much longer; until a health check succeeds if no time is given.
    let out: (reason: String, left: Duration?)?

    func write(to json: inout JSONWriter) {
        json.field("address", string: "\(address)")
        json.field("state", string: state.rawValue)
        json.field("calls", number: calls)
        json.field("connections", number: connections)
        guard let out else { return }
        json.field("reason", string: out.reason)
        if let left = out.left { json.field("out_ms", milliseconds: left) }
    }

    /// The address in one line.
    var line: String {
        let counts = "\(calls == 1 ? "1 call" : "\(calls) calls")"
        guard let out else { return "\(address), \(state.rawValue), \(counts)" }
        let time = out.left.map { " for \(max(0, ($0 + .second - .nanoseconds(1)).seconds))s" } ?? ""
        return "\(address), out\(time): \(out.reason)"
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
            guard usage != nil || table?.has(state.address) == true else { return nil }
            let isLeaving = usage?.isLeaving ?? false
            let out = isLeaving ? nil : state.out.map { ($0.reason, $0.until.map { max(.zero, $0 - now) }) }
            return AddressReport(
                address: state.address,
                state: isLeaving ? .leaving : out == nil ? .in : .out,
                calls: usage?.calls ?? 0,
                connections: usage?.connections ?? 0,
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

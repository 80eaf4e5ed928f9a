import Testing

@testable import Telemetry

@Suite struct RouteNamesTests {
    private let counters = WorkerCounters()

    private func counter(_ name: String) -> RouteCounter { counters.route(named: Array(name.utf8)) }

    private var routes: [String] {
        counters.snapshot().lines("martlet_rpc_handled_total").map { line in
            let route = line.split(separator: "\"")[1]
            return "\(route) \(line.split(separator: " ").last ?? "")"
        }
    }

    @Test func `calls are counted by name, by number where there is none, and under none`() {
        counters.call("s", "M", route: counter("users"))
        counters.call("s", "M", route: .number(7))
        counters.call("s", "M", route: .number(10))
        counters.call("s", "M", route: .none)
        counters.call("s", "M", route: counter("orders"))
        #expect(routes == ["none 1", "7 1", "10 1", "orders 1", "users 1"])
    }

    @Test func `a name asked for again after a reload keeps its count`() {
        let first = counter("users")
        _ = counter("orders")
        counters.call("s", "M", route: first)
        counters.call("s", "M", route: counter("users"))
        #expect(counter("users") == first)
        #expect(routes == ["users 2"])
    }

    @Test func `workers are added up by name, whatever the order of their names`() {
        let other = WorkerCounters()
        _ = other.route(named: Array("orders".utf8))
        counters.call("s", "M", route: counter("users"))
        other.call("s", "M", route: other.route(named: Array("users".utf8)))
        var merged = counters.snapshot()
        merged.merge(other.snapshot())
        #expect(merged.lines("martlet_rpc_handled_total").count == 1)
        #expect(merged.lines("martlet_rpc_handled_total")[0].hasSuffix(" 2"))
    }

    @Test func `many routes and codes have their own counts`() {
        let names = (0..<300).map { counter("r\($0)") }
        for (index, name) in names.enumerated() {
            for code in 0..<3 {
                counters.call("s", "M", code: UInt8(code), route: name)
                counters.call("s", "M", code: UInt8(code), route: .number(index))
            }
        }
        let lines = counters.snapshot().lines("martlet_rpc_handled_total")
        #expect(lines.count == 300 * 2 * 3)
        #expect(lines.allSatisfy { $0.hasSuffix(" 1") })
    }
}

import Testing
import Time

@testable import Telemetry

/// The rules that Prometheus has for names, units and help texts.
@Suite struct MetricCatalogTests {
    @Test func `no two metrics share a name`() {
        #expect(Set(Metric.all.map(\.name)).count == Metric.all.count)
    }

    @Test(arguments: Metric.all.map(\.name))
    func `a metric has a prefix, small letters and base units in its name`(_ name: String) throws {
        #expect(name.hasPrefix("martlet_") || name.hasPrefix("process_"))
        #expect(name.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil)
        #expect(!name.contains("__") && !name.hasSuffix("_"))
        for part in name.split(separator: "_") {
            #expect(!["milliseconds", "ms", "minutes", "kilobytes", "counter", "gauge"].contains(part))
        }
    }

    @Test(arguments: Metric.all.map(\.name))
    func `a name says what kind of metric it is`(_ name: String) throws {
        let metric = try #require(Metric.all.first { $0.name == name })
        #expect((metric.kind == .counter) == name.hasSuffix("_total"))
        let isOfDurations = metric.kind == .histogram || metric.kind == .summary
        #expect(!isOfDurations || name.hasSuffix("_seconds"))
        #expect(
            !["_count", "_sum", "_bucket", "_info"].contains(where: name.hasSuffix) || name == "martlet_build_info"
        )
    }

    @Test(arguments: Metric.all.map(\.name))
    func `a help text is one line that ends with a full stop`(_ name: String) throws {
        let metric = try #require(Metric.all.first { $0.name == name })
        #expect(metric.help.hasSuffix(".") && !metric.help.contains("\n"))
        #expect(!metric.help.contains(name))
    }

    @Test(arguments: Metric.all.map(\.name))
    func `labels are small words, each once, and none that Prometheus has for itself`(_ name: String) throws {
        let labels = try #require(Metric.all.first { $0.name == name }).labels
        #expect(Set(labels).count == labels.count)
        for label in labels {
            #expect(label.wholeMatch(of: /[a-z][a-z_]*/) != nil)
            #expect(!["le", "quantile", "job", "instance"].contains(label) && !label.hasPrefix("__"))
        }
    }

    @Test func `all that is counted is in the catalogue, with as many labels as it says`() {
        let counters = WorkerCounters()
        counters.call("s", "M", .grpc)
        let upstream = counters.upstream("u")
        counters.upstreamCall(upstream, code: 0, duration: .nanoseconds(1))
        counters.hedge(.won, on: upstream)
        _ = (counters.listener("l"), counters.interceptor("i"))
        counters.badRequest("version")
        counters.callFailed(1, decidedBy: .martlet)
        var snapshot = counters.snapshot()
        snapshot.addPools(of: "u", idle: 1, active: 0, waiting: 0)
        let names = Set(Metric.all.map(\.name))
        for family in snapshot.families(codeNames: ["ok"]) {
            #expect(names.contains(family.metric.name), "\(family.metric.name)")
            #expect(!family.samples.isEmpty, "\(family.metric.name)")
            for sample in family.samples { #expect(sample.labels.count == family.metric.labels.count) }
        }
    }
}

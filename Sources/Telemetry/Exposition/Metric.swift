/// What a metric is: its name, its type and what it tells.
public struct Metric: Sendable {
    /// The types of the text format that are used.
    public enum Kind: String, Sendable {
        /// A number that only grows.
        case counter
        /// A number that goes up and down.
        case gauge
        /// How many values fell below which bounds, and their sum.
        case histogram
        /// How many values there were, and their sum.
        case summary
    }

    /// What the values of a metric are measured in; the raw value is the end of its name.
    public enum Unit: String, CaseIterable, Sendable {
        case seconds
        case bytes

        /// The unit as OTLP writes it (UCUM).
        var otlp: String { self == .seconds ? "s" : "By" }
    }

    /// The name of the family, as Prometheus knows it.
    public let name: String
    /// The type of the family.
    public let kind: Kind
    /// The names of its labels, in the order in which they are rendered.
    public let labels: [String]
    /// One sentence on what it tells.
    public let help: String

    init(_ name: String, _ kind: Kind, _ help: String, labels: [String] = []) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }

    /// The name of the family in OpenMetrics, where `_total` belongs to the sample of a counter.
    var openMetricsName: Substring {
        kind == .counter && name.hasSuffix("_total") ? name.dropLast("_total".count) : name[...]
    }

    /// What its values are measured in; none for a plain number.
    var unit: Unit? { Unit.allCases.first { openMetricsName.hasSuffix("_\($0.rawValue)") } }

    /// The name in OTLP, to which whoever makes a metric of Prometheus of it adds the unit and `_total`.
    var otlpName: String {
        String(openMetricsName.dropLast(unit.map { $0.rawValue.count + 1 } ?? 0))
    }
}

internal import Bytes
internal import HTTP
internal import Telemetry

extension PrometheusText.Format {
    private static let field = FieldName("accept")

    /// The format that `accept` prefers; OpenMetrics only if it is named, and not after the text of Prometheus.
    init(accept head: HTTPHead) {
        var (ranges, next) = ([Substring](), head.first(Self.field))
        while let index = next {
            ranges += head.value(at: index).string.split(separator: ",")
            next = head.first(Self.field, from: index + 1)
        }
        let (open, plain) = (Self.openMetricsQuality(ranges), Self.quality(of: "text/plain", ranges))
        self = open > 0 && open >= plain ? .openMetrics : .prometheus
    }

    /// What the ranges say of version 1.0.0 of OpenMetrics, from 0 to 1.
    private static func openMetricsQuality(_ ranges: [Substring]) -> Double {
        ranges.map(MediaRange.init).filter { range in
            range.type == "application/openmetrics-text" && range["version"] ?? "1.0.0" == "1.0.0"
        }.map(\.quality).max() ?? 0
    }

    /// What the most specific range says of version 0.0.4 of a type, from 0 to 1.
    private static func quality(of type: String, _ ranges: [Substring]) -> Double {
        let read = ranges.map(MediaRange.init)
        let exact = read.filter { $0.type == type && $0["version"] ?? "0.0.4" == "0.0.4" }
        let matching = [exact, read.filter { $0.type == "text/*" }, read.filter { $0.type == "*/*" }]
        return matching.first { !$0.isEmpty }?.map(\.quality).max() ?? 0
    }
}

/// One range of `accept` (RFC 9110 §12.5.1).
private struct MediaRange {
    let type: String
    private let parameters: [(name: String, value: String)]

    init(_ text: Substring) {
        let parts = text.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" } }
        type = parts.first?.lowercased() ?? ""
        parameters = parts.dropFirst().map { part in
            let pair = part.split(separator: "=", maxSplits: 1)
            return (pair.first?.lowercased() ?? "", pair.count > 1 ? pair[1].lowercased() : "")
        }
    }

    subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The weight: 1 if there is none, and 0 if it is no number.
    var quality: Double { self["q"].map { Double($0).flatMap { 0...1 ~= $0 ? $0 : nil } ?? 0 } ?? 1 }
}

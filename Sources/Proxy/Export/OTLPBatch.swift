internal import Telemetry

/// What goes to a receiver of OTLP in one request.
protocol OTLPBatch {
    /// What it has, for people.
    static var noun: String { get }
    /// What the receiver counts, for people.
    static var items: String { get }
    /// What it counts for in the metrics.
    var count: Int { get }
    /// What it counts for that has failed, if the receiver rejects some items.
    func failed(_ rejected: Int) -> Int
    /// Its halves; none if it has only one part.
    var halves: (Self, Self)? { get }
    /// The body of the request.
    func body(isJSON: Bool, _ resource: TelemetryResource) -> [UInt8]
}

extension [SpanRecord]: OTLPBatch {
    static var noun: String { "spans" }
    static var items: String { "spans" }

    func failed(_ rejected: Int) -> Int { rejected }

    var halves: ([SpanRecord], [SpanRecord])? {
        count > 1 ? (Array(self[..<(count / 2)]), Array(self[(count / 2)...])) : nil
    }

    func body(isJSON: Bool, _ resource: TelemetryResource) -> [UInt8] {
        isJSON ? OTLPJSON.request(self, resource) : OTLPProtobuf.request(self, resource)
    }
}

extension MetricSnapshot: OTLPBatch {
    static var noun: String { "metrics" }
    static var items: String { "data points" }

    /// A request with metrics counts for one, whatever it has.
    var count: Int { 1 }

    /// The receiver has taken the others.
    func failed(_ rejected: Int) -> Int { 0 }

    /// A receiver that takes no sixteenth of it takes nothing.
    var halves: (MetricSnapshot, MetricSnapshot)? {
        let middle = families.count / 2
        return middle > 3 ? (with(Array(families[..<middle])), with(Array(families[middle...]))) : nil
    }

    func body(isJSON: Bool, _ resource: TelemetryResource) -> [UInt8] {
        isJSON ? OTLPJSON.request(self, resource) : OTLPProtobuf.request(self, resource)
    }
}

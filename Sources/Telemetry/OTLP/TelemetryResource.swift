/// What all spans and metrics of the process have in common.
public struct TelemetryResource: Equatable, Sendable {
    /// What is said of the process, `service.name` first.
    public let attributes: [SpanRecord.Attribute]
    /// The version of Martlet.
    public let version: String

    /// Describes a process.
    public init(_ attributes: [SpanRecord.Attribute], version: String) {
        (self.attributes, self.version) = (attributes, version)
    }
}

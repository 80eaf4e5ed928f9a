public import Time

/// One span that has ended, as it is exported.
public struct SpanRecord: Equatable, Sendable {
    /// Whose side of a call it is; the raw value is that of OTLP.
    public enum Kind: Int, Sendable {
        /// That of who is called.
        case server = 2
        /// That of who calls.
        case client = 3
    }

    /// What an attribute says.
    public enum Value: Equatable, Sendable {
        case text([UInt8])
        case number(Int)
        case bool(Bool)
    }

    /// A name, as semantic conventions have it, and what is said.
    public struct Attribute: Equatable, Sendable {
        /// The name.
        public let name: String
        /// What is said.
        public let value: Value

        /// Says something.
        public init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }

        /// Says a text.
        public init(_ name: String, _ text: String) { self.init(name, .text(Array(text.utf8))) }
    }

    /// Something that has happened within the span.
    public struct Event: Equatable, Sendable {
        /// When.
        public let time: WallTime
        /// What.
        public let name: String
        /// What is said of it.
        public let attributes: [Attribute]

        /// Describes an event.
        public init(at time: WallTime, _ name: String, _ attributes: [Attribute]) {
            (self.time, self.name, self.attributes) = (time, name, attributes)
        }
    }

    /// The trace, the span, and whether it is recorded.
    public let context: TraceContext
    /// The id of the span that it belongs to; none if it is the first of its trace.
    public let parent: UInt64?
    /// The value of `tracestate`, which passes as it is.
    public let state: [UInt8]
    /// Whose side it is.
    public let kind: Kind
    /// What it is called.
    public let name: [UInt8]
    /// When it began.
    public let start: WallTime
    /// When it ended.
    public let end: WallTime
    /// What is said of it.
    public let attributes: [Attribute]
    /// What has happened.
    public let events: [Event]
    /// Why it counts as an error; none if it does not.
    public let error: [UInt8]?

    /// Describes a span.
    public init(
        _ context: TraceContext,
        parent: UInt64?,
        state: [UInt8] = [],
        _ kind: Kind,
        name: [UInt8],
        start: WallTime,
        end: WallTime,
        attributes: [Attribute],
        events: [Event] = [],
        error: [UInt8]? = nil
    ) {
        (self.context, self.parent, self.state, self.kind, self.name) = (context, parent, state, kind, name)
        (self.start, self.end, self.attributes, self.events, self.error) = (start, end, attributes, events, error)
    }
}

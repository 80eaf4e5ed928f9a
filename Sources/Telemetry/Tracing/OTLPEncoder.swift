internal import Time

/// What all spans of the process have in common.
public struct SpanResource: Equatable, Sendable {
    /// What is said of the process, `service.name` first.
    public let attributes: [SpanRecord.Attribute]
    /// The version of Martlet.
    public let version: String

    /// Describes a process.
    public init(_ attributes: [SpanRecord.Attribute], version: String) {
        (self.attributes, self.version) = (attributes, version)
    }
}

/// Writes `opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest` in Protobuf.
public struct OTLPProtobuf {
    private var message = ProtobufWriter()

    /// The request for some spans.
    public static func request(_ spans: [SpanRecord], _ resource: SpanResource) -> [UInt8] {
        var writer = OTLPProtobuf()
        writer.message.message(1) { resourceSpans in
            resourceSpans.message(1) { message in
                for attribute in resource.attributes { add(attribute, 1, to: &message) }
            }
            resourceSpans.message(2) { scopeSpans in
                scopeSpans.message(1) { scope in
                    scope.bytes(1, Array("martlet".utf8))
                    scope.bytes(2, Array(resource.version.utf8))
                }
                for span in spans { scopeSpans.message(2) { add(span, to: &$0) } }
            }
        }
        return writer.message.bytes
    }

    private static func add(_ span: SpanRecord, to message: inout ProtobufWriter) {
        let context = span.context
        message.bytes(1, bigEndian(context.traceHigh) + bigEndian(context.traceLow))
        message.bytes(2, bigEndian(context.span))
        if !span.state.isEmpty { message.text(3, span.state) }
        if let parent = span.parent { message.bytes(4, bigEndian(parent)) }
        message.text(5, span.name)
        message.number(6, UInt64(span.kind.rawValue))
        message.fixed64(7, UInt64(span.start.nanoseconds))
        message.fixed64(8, UInt64(span.end.nanoseconds))
        for attribute in span.attributes { add(attribute, 9, to: &message) }
        for event in span.events {
            message.message(11) { message in
                message.fixed64(1, UInt64(event.time.nanoseconds))
                message.bytes(2, Array(event.name.utf8))
                for attribute in event.attributes { add(attribute, 3, to: &message) }
            }
        }
        if let error = span.error {
            message.message(15) { status in
                if !error.isEmpty { status.text(2, error) }
                status.number(3, 2)
            }
        }
        message.fixed32(16, context.isSampled ? 1 : 0)
    }

    private static func add(_ attribute: SpanRecord.Attribute, _ field: Int, to message: inout ProtobufWriter) {
        message.message(field) { pair in
            pair.bytes(1, Array(attribute.name.utf8))
            pair.message(2) { value in
                switch attribute.value {
                case .text(let text): value.text(1, text)
                case .bool(let bool): value.number(2, bool ? 1 : 0)
                case .number(let number): value.number(3, UInt64(bitPattern: Int64(number)))
                }
            }
        }
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt64($0)) }
    }
}

/// Writes a message in Protobuf's binary form, field by field.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    /// A field of the wire type 2: bytes, text, or a message.
    mutating func bytes(_ field: Int, _ value: [UInt8]) {
        tag(field, 2)
        varint(UInt64(value.count))
        bytes += value
    }

    /// A text: what is no UTF-8 in it is replaced, as receivers reject a message with anything else.
    mutating func text(_ field: Int, _ value: [UInt8]) {
        bytes(field, Array(String(decoding: value, as: UTF8.self).utf8))
    }

    /// A message within.
    mutating func message(_ field: Int, _ body: (inout ProtobufWriter) -> Void) {
        var inner = ProtobufWriter()
        body(&inner)
        bytes(field, inner.bytes)
    }

    /// A number of the wire type 0.
    mutating func number(_ field: Int, _ value: UInt64) {
        tag(field, 0)
        varint(value)
    }

    /// A number of the wire type 1.
    mutating func fixed64(_ field: Int, _ value: UInt64) {
        tag(field, 1)
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    /// A number of the wire type 5.
    mutating func fixed32(_ field: Int, _ value: UInt32) {
        tag(field, 5)
        for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    private mutating func tag(_ field: Int, _ type: UInt64) { varint(UInt64(field) << 3 | type) }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

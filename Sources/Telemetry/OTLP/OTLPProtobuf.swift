internal import Time

/// Writes the requests of OTLP in Protobuf.
public enum OTLPProtobuf {
    /// The `ExportTraceServiceRequest` for some spans.
    public static func request(_ spans: [SpanRecord], _ resource: TelemetryResource) -> [UInt8] {
        request(resource) { scopeSpans in
            for span in spans { scopeSpans.message(2) { add(span, to: &$0) } }
        }
    }

    /// A request of any signal: they number the fields around what they send alike.
    static func request(_ resource: TelemetryResource, _ content: (inout ProtobufWriter) -> Void) -> [UInt8] {
        var writer = ProtobufWriter()
        writer.message(1) { ofResource in
            ofResource.message(1) { message in
                for attribute in resource.attributes { add(attribute, 1, to: &message) }
            }
            ofResource.message(2) { ofScope in
                ofScope.message(1) { scope in
                    scope.bytes(1, Array("martlet".utf8))
                    scope.bytes(2, Array(resource.version.utf8))
                }
                content(&ofScope)
            }
        }
        return writer.bytes
    }

    private static func add(_ span: SpanRecord, to message: inout ProtobufWriter) {
        let context = span.context
        message.bytes(1, traceID(context))
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

    static func add(_ attribute: SpanRecord.Attribute, _ field: Int, to message: inout ProtobufWriter) {
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

    static func traceID(_ context: TraceContext) -> [UInt8] {
        bigEndian(context.traceHigh) + bigEndian(context.traceLow)
    }

    static func bigEndian(_ value: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt64($0)) }
    }
}

internal import Bytes
internal import Time

/// Writes the requests of OTLP in its JSON, which has hexadecimal ids, numbers for enums, and texts for 64 bits.
public enum OTLPJSON {
    /// The `ExportTraceServiceRequest` for some spans.
    public static func request(_ spans: [SpanRecord], _ resource: TelemetryResource) -> [UInt8] {
        request(resource, "resourceSpans", "scopeSpans", "spans") { queue in
            append(spans, to: queue) { append($0, to: queue) }
        }
    }

    /// A request of any signal; the names are those of its fields, from the outside in.
    static func request(
        _ resource: TelemetryResource,
        _ ofResource: StaticString,
        _ ofScope: StaticString,
        _ items: StaticString,
        _ content: (ByteQueue) -> Void
    ) -> [UInt8] {
        let queue = ByteQueue()
        queue.append("{\"")
        queue.append(ofResource)
        queue.append("\":[{\"resource\":{\"attributes\":")
        append(resource.attributes, to: queue)
        queue.append("},\"")
        queue.append(ofScope)
        queue.append("\":[{\"scope\":{\"name\":\"martlet\",\"version\":")
        queue.append(json: resource.version)
        queue.append("},\"")
        queue.append(items)
        queue.append("\":")
        content(queue)
        queue.append("}]}]}")
        return queue.readable.array
    }

    /// Appends a list.
    static func append<Item>(_ items: [Item], to queue: ByteQueue, _ item: (Item) -> Void) {
        queue.append("[")
        for (index, one) in items.enumerated() {
            if index > 0 { queue.append(",") }
            item(one)
        }
        queue.append("]")
    }

    private static func append(_ span: SpanRecord, to queue: ByteQueue) {
        let context = span.context
        queue.append("{")
        append(context, to: queue)
        if !span.state.isEmpty {
            queue.append(",\"traceState\":")
            queue.append(json: String(decoding: span.state, as: UTF8.self))
        }
        if let parent = span.parent {
            queue.append(",\"parentSpanId\":\"")
            queue.append(paddedHexadecimal: parent)
            queue.append("\"")
        }
        queue.append(",\"name\":")
        queue.append(json: String(decoding: span.name, as: UTF8.self))
        queue.append(",\"kind\":")
        queue.append(decimal: span.kind.rawValue)
        append("startTimeUnixNano", Int(span.start.nanoseconds), to: queue)
        append("endTimeUnixNano", Int(span.end.nanoseconds), to: queue)
        queue.append(",\"attributes\":")
        append(span.attributes, to: queue)
        queue.append(",\"events\":")
        append(span.events, to: queue) { event in
            queue.append("{\"name\":")
            queue.append(json: event.name)
            append("timeUnixNano", Int(event.time.nanoseconds), to: queue)
            queue.append(",\"attributes\":")
            append(event.attributes, to: queue)
            queue.append("}")
        }
        queue.append(",\"status\":{")
        if let error = span.error {
            queue.append("\"code\":2,\"message\":")
            queue.append(json: String(decoding: error, as: UTF8.self))
        }
        queue.append("},\"flags\":")
        queue.append(decimal: context.isSampled ? 1 : 0)
        queue.append("}")
    }

    /// Appends the ids of a span.
    static func append(_ context: TraceContext, to queue: ByteQueue) {
        queue.append("\"traceId\":\"")
        queue.append(paddedHexadecimal: context.traceHigh)
        queue.append(paddedHexadecimal: context.traceLow)
        queue.append("\",\"spanId\":\"")
        queue.append(paddedHexadecimal: context.span)
        queue.append("\"")
    }

    /// Appends a field with a number of 64 bits, behind another.
    static func append(_ name: StaticString, _ number: Int, to queue: ByteQueue) {
        queue.append(",\"")
        queue.append(name)
        queue.append("\":\"")
        queue.append(decimal: number)
        queue.append("\"")
    }

    static func append(_ attributes: [SpanRecord.Attribute], to queue: ByteQueue) {
        append(attributes, to: queue) { attribute in
            queue.append("{\"key\":")
            queue.append(json: attribute.name)
            switch attribute.value {
            case .text(let text):
                queue.append(",\"value\":{\"stringValue\":")
                queue.append(json: String(decoding: text, as: UTF8.self))
            case .number(let number):
                queue.append(",\"value\":{\"intValue\":\"")
                queue.append(decimal: number)
                queue.append("\"")
            case .bool(let bool):
                queue.append(bool ? ",\"value\":{\"boolValue\":true" : ",\"value\":{\"boolValue\":false")
            }
            queue.append("}}")
        }
    }
}

internal import Bytes
internal import Time

/// Writes `ExportTraceServiceRequest` in the JSON of OTLP, which has hexadecimal ids, numbers for enums, and texts for 64 bits.
public enum OTLPJSON {
    /// The request for some spans.
    public static func request(_ spans: [SpanRecord], _ resource: SpanResource) -> [UInt8] {
        let queue = ByteQueue()
        queue.append("{\"resourceSpans\":[{\"resource\":{\"attributes\":")
        append(resource.attributes, to: queue)
        queue.append("},\"scopeSpans\":[{\"scope\":{\"name\":\"martlet\",\"version\":")
        queue.append(json: resource.version)
        queue.append("},\"spans\":[")
        for (index, span) in spans.enumerated() {
            if index > 0 { queue.append(",") }
            append(span, to: queue)
        }
        queue.append("]}]}]}")
        return queue.readable.array
    }

    private static func append(_ span: SpanRecord, to queue: ByteQueue) {
        let context = span.context
        queue.append("{\"traceId\":\"")
        queue.append(paddedHexadecimal: context.traceHigh)
        queue.append(paddedHexadecimal: context.traceLow)
        queue.append("\",\"spanId\":\"")
        queue.append(paddedHexadecimal: context.span)
        if !span.state.isEmpty {
            queue.append("\",\"traceState\":")
            queue.append(json: String(decoding: span.state, as: UTF8.self))
        } else {
            queue.append("\"")
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
        queue.append(",\"events\":[")
        for (index, event) in span.events.enumerated() {
            queue.append(index > 0 ? ",{\"name\":" : "{\"name\":")
            queue.append(json: event.name)
            append("timeUnixNano", Int(event.time.nanoseconds), to: queue)
            queue.append(",\"attributes\":")
            append(event.attributes, to: queue)
            queue.append("}")
        }
        queue.append("],\"status\":{")
        if let error = span.error {
            queue.append("\"code\":2,\"message\":")
            queue.append(json: String(decoding: error, as: UTF8.self))
        }
        queue.append("},\"flags\":")
        queue.append(decimal: context.isSampled ? 1 : 0)
        queue.append("}")
    }

    private static func append(_ name: StaticString, _ number: Int, to queue: ByteQueue) {
        queue.append(",\"")
        queue.append(name)
        queue.append("\":\"")
        queue.append(decimal: number)
        queue.append("\"")
    }

    private static func append(_ attributes: [SpanRecord.Attribute], to queue: ByteQueue) {
        queue.append("[")
        for (index, attribute) in attributes.enumerated() {
            queue.append(index > 0 ? ",{\"key\":" : "{\"key\":")
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
        queue.append("]")
    }
}

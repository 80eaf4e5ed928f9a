public import Bytes

/// A trace as Zipkin's B3 has it: in one header, or in several.
///
/// `b3: <16 or 32 hex>-<16 hex>[-<0, 1 or d>[-<16 hex>]]`, or `b3: 0`.
public enum B3Context {
    /// What a header says.
    public enum Reading: Equatable, Sendable {
        /// A span of a trace; its sampling is left to whoever gets it if nothing is said of it.
        case span(TraceContext, isDecided: Bool)
        /// No trace, but whether there is to be one.
        case decision(isSampled: Bool)
    }

    /// Reads the value of `b3`; nil if that is not valid.
    public static func read(single value: Span<UInt8>) -> Reading? {
        if value.count == 1 { return sampled(value).map { .decision(isSampled: $0) } }
        let parts = value.array.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map { Array($0) }
        guard 2...4 ~= parts.count else { return nil }
        let flag = parts.count > 2 ? parts[2] : []
        guard parts.count < 4 || parts[3].count == 16 else { return nil }
        let (trace, span) = (parts[0], parts[1])
        return read(trace: trace.span, span: span.span, sampled: flag.span)
    }

    /// Reads the values of `x-b3-traceid`, `x-b3-spanid` and `x-b3-sampled`, the last of which may be empty.
    public static func read(trace: Span<UInt8>, span: Span<UInt8>, sampled flag: Span<UInt8>) -> Reading? {
        guard trace.count == 16 || trace.count == 32, span.count == 16,
            let low = trace.hexadecimal(trace.count - 16..<trace.count),
            let high = trace.count == 32 ? trace.hexadecimal(0..<16) : 0,
            let span = span.hexadecimal(0..<16), high | low != 0, span != 0
        else { return nil }
        guard !flag.isEmpty else {
            return .span(TraceContext(traceHigh: high, traceLow: low, span: span, isSampled: false), isDecided: false)
        }
        guard let isSampled = sampled(flag) else { return nil }
        return .span(TraceContext(traceHigh: high, traceLow: low, span: span, isSampled: isSampled), isDecided: true)
    }

    private static func sampled(_ value: Span<UInt8>) -> Bool? {
        guard value.count == 1 else {
            // Older callers write words.
            return value.equals("true") ? true : value.equals("false") ? false : nil
        }
        switch value[0] {
        case UInt8(ascii: "0"): return false
        case UInt8(ascii: "1"), UInt8(ascii: "d"): return true
        default: return nil
        }
    }

    /// Appends the value of `b3`.
    public static func append(_ context: TraceContext, to queue: ByteQueue) {
        queue.append(paddedHexadecimal: context.traceHigh)
        queue.append(paddedHexadecimal: context.traceLow)
        queue.append("-")
        queue.append(paddedHexadecimal: context.span)
        queue.append(context.isSampled ? "-1" : "-0")
    }
}

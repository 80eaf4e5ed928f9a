public import Bytes

/// The trace that a call belongs to, the span that its caller is in, and whether the trace is recorded.
///
/// W3C Trace Context: what stands in `traceparent`, `00-<32 hex>-<16 hex>-<2 hex>`.
public struct TraceContext: Equatable, Sendable {
    /// The first 64 bits of the id of the trace.
    public let traceHigh: UInt64
    /// The last 64 bits of it.
    public let traceLow: UInt64
    /// The id of the span.
    public let span: UInt64
    /// Whether somebody records the trace.
    public let isSampled: Bool

    /// How many bytes `traceparent` of version 00 has.
    private static let size = 55

    /// Names a span of a trace.
    public init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, isSampled: Bool) {
        (self.traceHigh, self.traceLow, self.span, self.isSampled) = (traceHigh, traceLow, span, isSampled)
    }

    /// Reads the value of `traceparent`; nil if that is not valid.
    ///
    /// Of a version to come, what version 00 has is read.
    public init?(traceparent value: Span<UInt8>) {
        guard value.count >= Self.size, let version = value.hexadecimal(0..<2), version != 0xff else { return nil }
        if version == 0, value.count > Self.size { return nil }
        if value.count > Self.size, value[Self.size] != UInt8(ascii: "-") { return nil }
        for index in [2, 35, 52] where value[index] != UInt8(ascii: "-") { return nil }
        guard let high = value.hexadecimal(3..<19), let low = value.hexadecimal(19..<35),
            let span = value.hexadecimal(36..<52), let flags = value.hexadecimal(53..<55),
            high | low != 0, span != 0
        else { return nil }
        self.init(traceHigh: high, traceLow: low, span: span, isSampled: flags & 1 == 1)
    }

    /// The same trace, and another span in it.
    public func with(span: UInt64) -> TraceContext {
        TraceContext(traceHigh: traceHigh, traceLow: traceLow, span: span, isSampled: isSampled)
    }

    /// Appends the value of `traceparent`.
    public func appendTraceparent(to queue: ByteQueue) {
        queue.append("00-")
        queue.append(paddedHexadecimal: traceHigh)
        queue.append(paddedHexadecimal: traceLow)
        queue.append("-")
        queue.append(paddedHexadecimal: span)
        queue.append(isSampled ? "-01" : "-00")
    }
}

extension Span<UInt8> {
    /// The number of some hexadecimal digits, at most 16; nil if one is none, or a capital letter.
    func hexadecimal(_ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for index in range {
            switch self[index] {
            case let byte where (0x30...0x39).contains(byte): number = number << 4 | UInt64(byte - 0x30)
            case let byte where (0x61...0x66).contains(byte): number = number << 4 | UInt64(byte - 0x57)
            default: return nil
            }
        }
        return number
    }
}

internal import Bytes
internal import CNghttp2

/// A head or a trailer section in the form in which nghttp2 takes it.
///
/// Many callers share a connection to an upstream, and so the HPACK table of what is sent there. A field that a caller fills never
/// goes into that table: servers keep state with an entry, and a value that they cannot read fails later calls of other callers.
/// A value of `HTTP2FixedValue` may, and so may what the configuration gives to every request. A response goes to the connection of
/// its caller, where every field may be indexed.
enum HTTP2FieldBlock {
    /// The kind of a block, with what a request has beside its head.
    enum Control {
        case request(scheme: StaticString)
        case requestTrailers
        case response
        case responseTrailers

        /// Whether the block goes to a connection that callers share.
        var isShared: Bool {
            switch self {
            case .request, .requestTrailers: true
            case .response, .responseTrailers: false
            }
        }
    }

    /// Room for the pseudo-fields and for those that are not among the fields of the head.
    private static let extra = 8

    /// Lends the fields of `head` to `body`.
    static func lend<Result>(
        _ head: HTTPHead,
        _ control: Control,
        _ body: (UnsafePointer<nghttp2_nv>, Int) -> Result
    ) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: head.count + extra) { fields in
            unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { digits in
                unsafe head.arena.withMemory { memory in
                    var writer = unsafe Writer(fields: fields.baseAddress!, digits: digits.baseAddress!, memory: memory)
                    writer.write(head, control)
                    return unsafe body(fields.baseAddress!, writer.count)
                }
            }
        }
    }

    /// Returns the size of a block as SETTINGS_MAX_HEADER_LIST_SIZE counts it (RFC 9113 §6.5.2).
    static func size(_ fields: UnsafePointer<nghttp2_nv>, _ count: Int) -> Int {
        var size = 32 * count
        for index in 0..<count { size += unsafe fields[index].namelen + fields[index].valuelen }
        return size
    }

    @safe
    private struct Writer {
        let fields: UnsafeMutablePointer<nghttp2_nv>
        let digits: UnsafeMutablePointer<UInt8>
        let memory: UnsafeMutablePointer<UInt8>
        var count = 0
        var digitCount = 0
        /// The flag of a name that is never released: nghttp2 need not copy it.
        private static let staticName = NGHTTP2_NV_FLAG_NO_COPY_NAME
        /// The flag of a field that a caller fills, for a connection that callers share.
        private static let isCallers = NGHTTP2_NV_FLAG_NO_INDEX

        mutating func write(_ head: HTTPHead, _ control: Control) {
            switch control {
            case .request(let scheme):
                add(":method", head.methodRange, isCallers: !head.hasUsualMethod)
                add(":scheme", scheme)
                if head.authorityRange.count > 0 {
                    add(":authority", head.authorityRange, isCallers: !head.hasConfiguredAuthority)
                }
                add(":path", head.targetRange, isCallers: true)
                if head.acceptsTrailers { add("te", "trailers") }
                if head.expectsContinue { add("expect", "100-continue") }
            case .response:
                add(":status", decimal: head.status)
            case .requestTrailers, .responseTrailers:
                break
            }
            let isShared = control.isShared
            for index in 0..<head.count {
                let field = head.fields[index]
                let isCallers =
                    isShared && !field.isConfigured && !HTTP2FixedValue.contains(field.known, head.value(at: index))
                // The name of a known field is never released: nghttp2 would copy another, and make its letters small.
                if field.known != .other {
                    add(field.known.name, field.value, isCallers: isCallers)
                } else {
                    unsafe add(
                        memory + Int(field.name.offset),
                        Int(field.name.count),
                        memory + Int(field.value.offset),
                        Int(field.value.count),
                        isCallers ? Self.isCallers : NGHTTP2_NV_FLAG_NONE
                    )
                }
            }
            guard let length = head.contentLength, head.status != 204, !head.isInterim else { return }
            // nghttp2 never indexes this field.
            add("content-length", decimal: length)
        }

        private mutating func add(_ name: StaticString, _ value: ByteRange, isCallers: Bool) {
            unsafe add(
                UnsafeMutablePointer(mutating: name.utf8Start),
                name.utf8CodeUnitCount,
                memory + Int(value.offset),
                Int(value.count),
                isCallers ? nghttp2_nv_flag(Self.staticName.rawValue | Self.isCallers.rawValue) : Self.staticName
            )
        }

        private mutating func add(_ name: StaticString, _ value: StaticString) {
            unsafe add(
                UnsafeMutablePointer(mutating: name.utf8Start),
                name.utf8CodeUnitCount,
                UnsafeMutablePointer(mutating: value.utf8Start),
                value.utf8CodeUnitCount,
                nghttp2_nv_flag(Self.staticName.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
            )
        }

        private mutating func add(_ name: StaticString, decimal value: Int) {
            var rest = value
            var position = 24 - digitCount
            repeat {
                position -= 1
                unsafe digits[position] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            let used = 24 - digitCount - position
            digitCount += used
            unsafe add(
                UnsafeMutablePointer(mutating: name.utf8Start),
                name.utf8CodeUnitCount,
                digits + position,
                used,
                Self.staticName
            )
        }

        private mutating func add(
            _ name: UnsafeMutablePointer<UInt8>,
            _ nameCount: Int,
            _ value: UnsafeMutablePointer<UInt8>,
            _ valueCount: Int,
            _ flags: nghttp2_nv_flag
        ) {
            unsafe fields[count] = nghttp2_nv(
                name: name,
                value: value,
                namelen: nameCount,
                valuelen: valueCount,
                flags: UInt8(flags.rawValue)
            )
            count += 1
        }
    }
}

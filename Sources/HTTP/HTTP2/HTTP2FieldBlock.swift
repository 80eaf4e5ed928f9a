internal import Bytes
internal import CNghttp2

/// A head or a trailer section in the form in which nghttp2 takes it.
enum HTTP2FieldBlock {
    /// Where a request goes, beside its head.
    enum Control {
        case request(scheme: StaticString)
        case response
        case trailers
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

    @safe
    private struct Writer {
        let fields: UnsafeMutablePointer<nghttp2_nv>
        let digits: UnsafeMutablePointer<UInt8>
        let memory: UnsafeMutablePointer<UInt8>
        var count = 0
        var digitCount = 0
        /// What is said of a name that is there for ever: nghttp2 need not copy it.
        private static let staticName = NGHTTP2_NV_FLAG_NO_COPY_NAME

        mutating func write(_ head: HTTPHead, _ control: Control) {
            switch control {
            case .request(let scheme):
                add(":method", head.methodRange)
                add(":scheme", scheme)
                if head.authorityRange.count > 0 { add(":authority", head.authorityRange) }
                add(":path", head.targetRange)
                if head.acceptsTrailers { add("te", "trailers") }
                if head.expectsContinue { add("expect", "100-continue") }
            case .response:
                add(":status", decimal: head.status)
            case .trailers:
                break
            }
            for index in 0..<head.count {
                let field = head.fields[index]
                unsafe add(
                    memory + Int(field.name.offset),
                    Int(field.name.count),
                    memory + Int(field.value.offset),
                    Int(field.value.count),
                    NGHTTP2_NV_FLAG_NONE
                )
            }
            guard let length = head.contentLength, head.status != 204, !head.isInterim else { return }
            add("content-length", decimal: length)
        }

        private mutating func add(_ name: StaticString, _ value: ByteRange) {
            unsafe add(
                UnsafeMutablePointer(mutating: name.utf8Start),
                name.utf8CodeUnitCount,
                memory + Int(value.offset),
                Int(value.count),
                Self.staticName
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

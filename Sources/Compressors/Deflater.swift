internal import CZlib

/// The two formats that zlib has around the same compression.
enum ZlibFormat {
    /// RFC 1952.
    case gzip
    /// RFC 1950, which HTTP calls deflate.
    case zlib

    /// The largest window, and in zlib's way the format.
    var windowBits: Int32 { self == .gzip ? 15 + 16 : 15 }
}

/// Compresses by zlib.
@safe
final class Deflater: StreamEncoder {
    /// Half the work of the usual 6, for a few percent more bytes.
    private static let level: Int32 = 4

    /// zlib notes where the stream lies, so it must stay there.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    init(_ format: ZlibFormat) {
        unsafe stream.initialize(to: z_stream())
        let status = unsafe martlet_deflate_init(stream, Self.level, format.windowBits)
        guard status == Z_OK else { fatalError("out of memory creating a zlib encoder") }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Step {
        let (given, room) = unsafe stream.pointee.lend(input, output)
        let status = unsafe deflate(stream, Int(given) == input.count ? Z_FINISH : Z_NO_FLUSH)
        precondition(status == Z_OK || status == Z_BUF_ERROR || status == Z_STREAM_END)
        let isDone = status == Z_STREAM_END
        let step = unsafe Step(
            used: Int(given - stream.pointee.avail_in),
            made: Int(room - stream.pointee.avail_out),
            isDone: isDone
        )
        if isDone { unsafe deflateReset(stream) }
        return step
    }
}

extension z_stream {
    /// Lends zlib input and output, and tells how much of each.
    mutating func lend(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer
    ) -> (given: UInt32, room: UInt32) {
        // zlib only reads what it is given, but does not say so.
        unsafe next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        unsafe next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe avail_in = UInt32(clamping: input.count)
        unsafe avail_out = UInt32(clamping: output.count)
        return unsafe (avail_in, avail_out)
    }
}

internal import CZlib

/// Decompresses what zlib or its like compressed.
@safe
final class Inflater: StreamDecoder {
    private var format = ZlibFormat.gzip
    /// zlib notes where the stream lies, so it must stay there.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    init() {
        unsafe stream.initialize(to: z_stream())
        let status = unsafe martlet_inflate_init(stream, format.windowBits)
        guard status == Z_OK else { fatalError("out of memory creating a zlib decoder") }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Forgets everything and gets ready for a message of `format`.
    func starting(_ format: ZlibFormat) -> Inflater {
        self.format = format
        let status = unsafe inflateReset2(stream, format.windowBits)
        precondition(status == Z_OK)
        return self
    }

    /// A file of gzip may have several members (RFC 1952 §2.2).
    func startNext() -> Bool {
        guard format == .gzip else { return false }
        return unsafe inflateReset(stream) == Z_OK
    }

    func step(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer
    ) throws(DecompressionError) -> Step {
        let (given, room) = unsafe stream.pointee.lend(input, output)
        let status = unsafe inflate(stream, Z_NO_FLUSH)
        // Z_BUF_ERROR: nothing could be done. Z_NEED_DICT: there is none.
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else { throw .malformed }
        return unsafe Step(
            used: Int(given - stream.pointee.avail_in),
            made: Int(room - stream.pointee.avail_out),
            isDone: status == Z_STREAM_END
        )
    }
}

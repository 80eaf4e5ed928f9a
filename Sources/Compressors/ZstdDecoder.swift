internal import CZstd

/// Decompresses what Zstandard compressed.
@safe
final class ZstdDecoder: StreamDecoder {
    private let context: OpaquePointer

    init() {
        guard let context = unsafe ZSTD_createDCtx() else {
            preconditionFailure("out of memory creating a Zstandard decoder")
        }
        unsafe self.context = context
    }

    deinit {
        unsafe ZSTD_freeDCtx(context)
    }

    /// Forgets everything and gets ready for a message that stands for `limit` bytes at most.
    ///
    /// A frame asks for its window before there is any content. It gets as much as the content may have, or the 8 MiB
    /// that RFC 9659 lets each sender count on; never more than 128 MiB.
    func starting(limit: Int) -> ZstdDecoder {
        let maxWindowLog = Int32(Int.bitWidth - max(limit - 1, 0).leadingZeroBitCount)
        unsafe ZSTD_DCtx_reset(context, ZSTD_reset_session_only)
        unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, min(max(maxWindowLog, 23), 27))
        return self
    }

    /// A message may be several frames (RFC 8878 §3.1); the context is as new after each.
    func startNext() -> Bool { true }

    func step(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer
    ) throws(DecompressionError) -> Step {
        var from = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var to = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let left = unsafe ZSTD_decompressStream(context, &to, &from)
        guard ZSTD_isError(left) == 0 else {
            throw ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge ? .overLimit : .malformed
        }
        return unsafe Step(used: from.pos, made: to.pos, isDone: left == 0)
    }
}

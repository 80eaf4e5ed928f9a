internal import CZstd

/// Compresses by Zstandard, at its usual level.
@safe
final class ZstdEncoder: StreamEncoder {
    private let context: OpaquePointer

    init() {
        guard let context = unsafe ZSTD_createCCtx() else {
            preconditionFailure("out of memory creating a Zstandard encoder")
        }
        unsafe self.context = context
    }

    deinit {
        unsafe ZSTD_freeCCtx(context)
    }

    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Step {
        var from = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var to = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        // What is left to be written; after the last of it the context is as new.
        let left = unsafe ZSTD_compressStream2(context, &to, &from, ZSTD_e_end)
        precondition(ZSTD_isError(left) == 0)
        return unsafe Step(used: from.pos, made: to.pos, isDone: left == 0)
    }
}

internal import CBrotli

/// Compresses one message by Brotli.
@safe
final class BrotliEncoder: StreamEncoder {
    /// As good as gzip at its best, and as fast; the usual 11 is a hundred times slower.
    private static let quality: UInt32 = 4

    private let state: OpaquePointer

    /// Gets ready for a message of `sizeHint` bytes.
    init(sizeHint: Int) {
        guard let state = unsafe BrotliEncoderCreateInstance(nil, nil, nil) else {
            preconditionFailure("out of memory creating a Brotli encoder")
        }
        unsafe self.state = state
        unsafe BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, Self.quality)
        unsafe BrotliEncoderSetParameter(state, BROTLI_PARAM_SIZE_HINT, UInt32(clamping: sizeHint))
    }

    deinit {
        unsafe BrotliEncoderDestroyInstance(state)
    }

    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Step {
        var (given, room) = (input.count, output.count)
        var from = unsafe input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var to = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let status = unsafe BrotliEncoderCompressStream(
            state,
            BROTLI_OPERATION_FINISH,
            &given,
            &from,
            &room,
            &to,
            nil
        )
        precondition(status != 0)
        let isDone = unsafe BrotliEncoderIsFinished(state) != 0
        return Step(used: input.count - given, made: output.count - room, isDone: isDone)
    }
}

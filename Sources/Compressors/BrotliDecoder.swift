internal import CBrotli

/// Decompresses one message that was compressed by Brotli.
@safe
final class BrotliDecoder: StreamDecoder {
    private let state: OpaquePointer

    init() {
        guard let state = unsafe BrotliDecoderCreateInstance(nil, nil, nil) else {
            preconditionFailure("out of memory creating a Brotli decoder")
        }
        unsafe self.state = state
    }

    deinit {
        unsafe BrotliDecoderDestroyInstance(state)
    }

    func startNext() -> Bool { false }

    func step(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer
    ) throws(DecompressionError) -> Step {
        var (given, room) = (input.count, output.count)
        var from = unsafe input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var to = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = unsafe BrotliDecoderDecompressStream(state, &given, &from, &room, &to, nil)
        guard result != BROTLI_DECODER_RESULT_ERROR else { throw .malformed }
        return Step(
            used: input.count - given,
            made: output.count - room,
            isDone: result == BROTLI_DECODER_RESULT_SUCCESS
        )
    }
}

internal import Bytes

/// What a step of compression or decompression did.
struct Step {
    /// How many bytes it has used.
    let used: Int
    /// How many bytes it has written.
    let made: Int
    /// Whether it wrote the last of them.
    let isDone: Bool
}

/// Compresses the bytes of one message, step by step.
protocol StreamEncoder: AnyObject {
    /// Uses some of `input`, which is all that is left of the message, and writes to `output`, which has room.
    func step(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> Step
}

extension StreamEncoder {
    /// Appends `bytes` to `queue`, compressed.
    func encode(_ bytes: Span<UInt8>, into queue: ByteQueue) {
        var used = 0
        var room = Room()
        var isDone = false
        while !isDone {
            unsafe bytes.withUnsafeBytes { input in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: input[used...])
                _ = unsafe queue.append(room: room.next()) { output in
                    let step = unsafe step(rest, output)
                    used += step.used
                    isDone = step.isDone
                    return step.made
                }
            }
        }
    }
}

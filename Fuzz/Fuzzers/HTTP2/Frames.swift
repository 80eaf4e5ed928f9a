internal import Bytes

/// Bytes as frames of HTTP/2: raw, or each as type, flags, stream, length and so many bytes, so that lengths are right.
enum Frames {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + settings
    static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

    static func bytes(_ input: Span<UInt8>, isRaw: Bool) -> [UInt8] {
        guard !isRaw else { return input.array }
        var frames: [UInt8] = []
        var rest = input.array[...]
        while rest.count >= 4 {
            let head = Array(rest.prefix(4))
            rest = rest.dropFirst(4)
            let payload = rest.prefix(Int(head[3]))
            rest = rest.dropFirst(payload.count)
            frames += [0, 0, UInt8(payload.count), head[0], head[1], 0, 0, 0, head[2]] + payload
        }
        return frames
    }
}

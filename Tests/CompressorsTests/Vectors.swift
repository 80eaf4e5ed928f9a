import Bytes
import Compressors
import RPC

let hello = Array("hello, hello, hello!".utf8)

/// The same text as gzip, zlib and zstd of other programs have it.
enum Vectors {
    static let gzip = "1f8b0800000000000203cb48cdc9c9d751c840a21401a7bbd2fe14000000"
    static let zlib = "789ccb48cdc9c9d751c840a214014b1e06f6"
    static let zstd = "28b52ffd04587500004068656c6c6f2c20210100e28a11e511f02b"
    static let zstdWithoutSum = "28b52ffd20147500004068656c6c6f2c20210100e28a11"
}

extension Compressor {
    func compressed(_ bytes: [UInt8], _ compression: Compression) -> [UInt8] {
        let queue = ByteQueue()
        compress(bytes.span, as: compression, into: queue)
        return queue.readable.array
    }

    func decompressed(
        _ bytes: some Collection<UInt8>,
        _ compression: Compression,
        limit: Int = 1 << 20
    ) throws(DecompressionError) -> [UInt8] {
        let queue = ByteQueue()
        let bytes = Array(bytes)
        try decompress(bytes.span, from: compression, into: queue, limit: limit)
        return queue.readable.array
    }

    /// Why the bytes cannot be decompressed; none if they can.
    func failure(
        _ bytes: some Collection<UInt8>,
        _ compression: Compression,
        limit: Int = 1 << 20
    ) -> DecompressionError? {
        do {
            _ = try decompressed(bytes, compression, limit: limit)
            return nil
        } catch {
            return error
        }
    }
}

extension String {
    /// The bytes the text names in hexadecimal.
    var unhexed: [UInt8] {
        let digits = utf8.map { UInt8($0 < 0x3a ? $0 - 0x30 : $0 - 0x57) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

/// The same numbers in each run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

import Bytes
import Compressors
import RPC
import Testing

private let compressing: [Compression] = [.gzip, .deflate, .br, .zstd]

@Test(arguments: compressing)
func `a message that stands for too much is given up at the limit`(compression: Compression) throws {
    let compressor = Compressor()
    let bomb = compressor.compressed([UInt8](repeating: 0, count: 16 << 20), compression)
    #expect(bomb.count < 64 * 1024)
    for limit in [0, 1, 511, 512, 100_000] {
        let queue = ByteQueue()
        #expect(throws: DecompressionError.overLimit) {
            try compressor.decompress(bomb.span, from: compression, into: queue, limit: limit)
        }
        #expect(queue.count <= limit + 1)
    }
    #expect(try compressor.decompressed(bomb, compression, limit: 16 << 20).count == 16 << 20)
    #expect(compressor.failure(bomb, compression, limit: (16 << 20) - 1) == .overLimit)
}

@Test func `the limit holds for what is not compressed`() {
    #expect(Compressor().failure(hello, .identity, limit: 19) == .overLimit)
}

@Test(arguments: compressing)
func `a message that is cut off is malformed`(compression: Compression) throws {
    let compressor = Compressor()
    var generator = SeededGenerator(seed: 2)
    let message = hello + generator.bytes(600) + hello
    let whole = compressor.compressed(message, compression)
    for count in 1..<whole.count {
        #expect(compressor.failure(whole.prefix(count), compression) == .malformed)
    }
    #expect(try compressor.decompressed(whole, compression) == message)
}

@Test(arguments: compressing, [[0], [0x1f], Array("garbage behind the message".utf8)])
func `a message that is followed by garbage is malformed`(compression: Compression, garbage: [UInt8]) throws {
    let compressor = Compressor()
    let whole = compressor.compressed(hello, compression)
    #expect(compressor.failure(whole + garbage, compression) == .malformed)
    #expect(try compressor.decompressed(whole, compression) == hello)
}

@Test(arguments: [Compression.deflate, .br])
func `two messages of deflate or br in a row are malformed`(compression: Compression) {
    let compressor = Compressor()
    let whole = compressor.compressed(hello, compression)
    #expect(compressor.failure(whole + whole, compression) == .malformed)
}

@Test(arguments: [Compression.gzip, .deflate, .zstd])
func `a message whose sum is wrong is malformed`(compression: Compression) {
    let vectors: [Compression: String] = [.gzip: Vectors.gzip, .deflate: Vectors.zlib, .zstd: Vectors.zstd]
    var bytes = vectors[compression]!.unhexed
    bytes[bytes.count - (compression == .gzip ? 5 : 1)] ^= 1
    #expect(Compressor().failure(bytes, compression) == .malformed)
}

@Test(arguments: compressing)
func `what is of another compression is malformed`(compression: Compression) {
    let compressor = Compressor()
    for other in [.identity] + compressing where other != compression {
        #expect(compressor.failure(compressor.compressed(hello, other), compression) == .malformed)
    }
}

@Test(arguments: compressing)
func `no bytes can crash decompression`(compression: Compression) {
    let compressor = Compressor()
    var generator = SeededGenerator(seed: 3)
    let whole = compressor.compressed(hello + generator.bytes(200) + hello, compression)
    for _ in 0..<2000 {
        var bytes = whole
        for _ in 0..<2 { bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= generator.bytes(1)[0] }
        let queue = ByteQueue()
        try? compressor.decompress(bytes.span, from: compression, into: queue, limit: 4096)
        let noise = generator.bytes(64)
        try? compressor.decompress(noise.span, from: compression, into: queue, limit: 4096)
        #expect(queue.count <= 2 * 4097)
    }
}

/// A frame without a size of its content and with no block but an empty last one, which asks for a window of `bits`.
private func frame(windowBits bits: UInt8) -> [UInt8] {
    [0x28, 0xb5, 0x2f, 0xfd, 0, (bits - 10) << 3, 1, 0, 0]
}

@Test func `a frame of zstd may have a window of 8 MiB, or of the limit`() throws {
    let compressor = Compressor()
    #expect(try compressor.decompressed(frame(windowBits: 23), .zstd, limit: 1) == [])
    #expect(compressor.failure(frame(windowBits: 24), .zstd, limit: 1) == .overLimit)
    #expect(try compressor.decompressed(frame(windowBits: 24), .zstd, limit: 1 << 24) == [])
    #expect(compressor.failure(frame(windowBits: 25), .zstd, limit: 1 << 24) == .overLimit)
    #expect(compressor.failure(frame(windowBits: 28), .zstd, limit: .max) == .overLimit)
}

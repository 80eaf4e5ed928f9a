import Bytes
import Compressors
import RPC
import Testing

private let supported: [Compression] = [.identity, .gzip, .deflate, .br, .zstd]

@Test(arguments: Compression.allCases)
func `gzip, deflate, br and zstd are supported`(compression: Compression) {
    #expect(Compressor.supports(compression) == supported.contains(compression))
}

@Test(arguments: supported, [0, 1, 20, 511, 512, 513, 5000, 300_000])
func `what is compressed is decompressed to the same`(compression: Compression, size: Int) throws {
    let compressor = Compressor()
    var generator = SeededGenerator(seed: 1)
    let noise = generator.bytes(size)
    let text = (0..<size).map { UInt8(ascii: "a") + UInt8($0 % 7) }
    for message in [noise, text, noise] {
        let compressed = compressor.compressed(message, compression)
        #expect(try compressor.decompressed(compressed, compression, limit: size) == message)
    }
}

@Test(arguments: supported.dropFirst())
func `what repeats itself becomes small`(compression: Compression) {
    let compressed = Compressor().compressed([UInt8](repeating: 7, count: 100_000), compression)
    #expect(compressed.count < 1000)
}

@Test(arguments: supported)
func `bytes go behind those that are in the queue`(compression: Compression) throws {
    let compressor = Compressor()
    let message = hello
    let compressed = compressor.compressed(message, compression)
    let queue = ByteQueue()
    queue.append("before ")
    compressor.compress(message.span, as: compression, into: queue)
    #expect(queue.readable.array == Array("before ".utf8) + compressed)
    try compressor.decompress(compressed.span, from: compression, into: queue, limit: 20)
    #expect(queue.readable.array == Array("before ".utf8) + compressed + message)
}

@Test(arguments: [
    (Compression.gzip, Vectors.gzip), (.deflate, Vectors.zlib), (.zstd, Vectors.zstd), (.zstd, Vectors.zstdWithoutSum),
])
func `what others compressed is decompressed`(compression: Compression, hexadecimal: String) throws {
    #expect(try Compressor().decompressed(hexadecimal.unhexed, compression, limit: 20) == hello)
}

@Test func `what others compressed by Brotli is decompressed`() throws {
    let message = try Compressor().decompressed("0b058068656c6c6f20776f726c6403".unhexed, .br, limit: 11)
    #expect(message == Array("hello world".utf8))
}

@Test(arguments: supported)
func `no bytes stand for none`(compression: Compression) throws {
    #expect(try Compressor().decompressed([], compression, limit: 0) == [])
}

@Test(arguments: [(Compression.gzip, Vectors.gzip), (.zstd, Vectors.zstd)])
func `members of gzip and frames of zstd may follow each other`(
    compression: Compression,
    hexadecimal: String
) throws {
    let compressor = Compressor()
    let members = hexadecimal.unhexed + compressor.compressed([], compression) + hexadecimal.unhexed
    #expect(try compressor.decompressed(members, compression, limit: 40) == hello + hello)
    #expect(compressor.failure(members, compression, limit: 39) == .overLimit)
    #expect(compressor.failure(members.dropLast(), compression, limit: 40) == .malformed)
}

@Test func `the libraries report their versions`() {
    for version in [Compressor.zlibVersion, Compressor.brotliVersion, Compressor.zstdVersion] {
        #expect(version.split(separator: ".").count >= 3 && version.allSatisfy { $0 == "." || $0.isNumber })
    }
}

import Bytes
import RPC

/// What every protocol's response is made of in these tests.
enum Vectors {
    static let error = RPCError(.unknown, "auth token fetch failed")
    static let retryInfo = ErrorDetail(type: "google.rpc.RetryInfo", value: [0x0a, 0x02, 0x08, 0x3c])
    static let errorJSON = #"{"code":"unknown","message":"auth token fetch failed"}"#

    static let message = "00000000080a0668656c6c6f21"
    static let responseMessage = "00000000100a0e68692c2069276d20656c697a6121"
    static let emptyMessage = "0000000000"
    static let connectEnd = "02000000027b7d"
    static let connectEndMetadata =
        "020000002c7b226d65746164617461223a7b2261636d652d6f7065726174696f6e2d636f7374223a5b22323337225d7d7d"
    static let connectEndError =
        "02000000407b226572726f72223a7b22636f6465223a22756e6b6e6f776e222c226d657373616765223a22617574682074"
        + "6f6b656e206665746368206661696c6564227d7d"
    static let webEnd = "8000000010677270632d7374617475733a20300d0a"
    static let webEndError =
        "8000000037677270632d7374617475733a20320d0a677270632d6d6573736167653a206175746820746f6b656e20666574"
        + "6368206661696c65640d0a"
    static let compressedMessage = "010000001c1f8b08000000000002ffe362cb48cdc9c9570400589e76bc08000000"
}

extension String {
    var bytes: [UInt8] { Array(utf8) }

    /// The bytes the text names in hexadecimal.
    var unhexed: [UInt8] {
        let digits = utf8.map { UInt8($0 < 0x3a ? $0 - 0x30 : $0 - 0x57) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension Collection<UInt8> {
    var text: String { String(decoding: self, as: UTF8.self) }
}

extension [UInt8] {
    var base64: String {
        let queue = ByteQueue()
        queue.append(base64: span, padded: true)
        return queue.readable.string
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

    mutating func bytes(upTo limit: Int) -> [UInt8] {
        (0..<Int.random(in: 0...limit, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

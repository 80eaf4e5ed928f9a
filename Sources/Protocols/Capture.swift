internal import Bytes

/// A copy of some bytes that pass, up to a limit.
struct Capture: Sendable {
    /// The most bytes that are kept.
    static let limit = 64 * 1024

    /// What was kept.
    private(set) var bytes: [UInt8] = []
    /// Whether that is everything that passed.
    private(set) var isWhole = true

    mutating func add(_ more: Span<UInt8>) {
        let room = Self.limit - bytes.count
        if more.count > room { isWhole = false }
        for index in 0..<min(room, more.count) { bytes.append(more[index]) }
    }
}

/// Counts the bytes that the queues of one thread have set aside, and tells of them in steps.
///
/// Belongs to one thread.
public final class MemoryMeter {
    /// The bytes that are set aside now.
    public private(set) var bytes = 0
    /// Told, in bytes, how much has been added since it was told last; below zero if it has become less.
    public var changed: (Int) -> Void = { _ in }

    /// How far the bytes may be from what was told; none is told exactly.
    private static let step = 64 * 1024
    private var reported = 0

    /// Makes a meter that stands at zero.
    public init() {}

    /// Adds bytes, or takes them away if there are fewer than none.
    @inline(__always)
    public func add(_ count: Int) {
        bytes &+= count
        let difference = bytes &- reported
        if difference.magnitude >= UInt(Self.step) || bytes == 0 && difference != 0 { report(difference) }
    }

    @inline(never)
    private func report(_ difference: Int) {
        reported = bytes
        changed(difference)
    }
}

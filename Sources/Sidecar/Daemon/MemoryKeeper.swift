internal import Events
internal import Time

/// Gives memory back to the system after a load has gone.
///
/// What the workers keep for further calls goes first, where nobody needs it. glibc by itself keeps most of what was once
/// needed, and each burst leaves a little more of it in pieces. Belongs to the thread of its loop; to be made before there
/// are other threads.
final class MemoryKeeper {
    private static let interval = 30 * Duration.second
    /// How much more may be resident and not in use than when memory was last given back: the next burst takes it.
    private static let much = 512 * 1024

    private let loop: EventLoop
    private let releaseCaches: (_ then: @escaping () -> Void) -> Void
    private var timer: Timer?
    /// What cannot be given back: stacks, data of the program, and pieces of pages.
    private var fixed = 0

    /// `releaseCaches` has the workers forget what nobody has needed since the last time, and says when they have.
    init(loop: EventLoop, releaseCaches: @escaping (_ then: @escaping () -> Void) -> Void) {
        self.loop = loop
        self.releaseCaches = releaseCaches
        timer = Timer(on: loop.timers) { [unowned self] in check() }
        timer?.arm(after: Self.interval)
    }

    deinit {
        timer?.cancel()
    }

    private func check() {
        timer?.arm(after: Self.interval)
        releaseCaches { [weak self] in self?.releaseMemory() }
    }

    private func releaseMemory() {
        let spare = Self.spare
        if spare > fixed + Self.much {
            Memory.trim()
            fixed = Self.spare
        } else {
            fixed = min(fixed, spare)
        }
    }

    /// The bytes that are resident and not in use.
    private static var spare: Int { ProcessMetrics.ownBytes - Memory.inUse }
}

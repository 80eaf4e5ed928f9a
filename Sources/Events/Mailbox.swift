private import CLinux
private import Glibc

/// The one door into a loop from another thread: a letter is handed the resident when it is opened there.
///
/// `post` may be called on any thread; `drain` is called by the loop that watches `descriptor`.
@safe
public final class Mailbox<Resident>: Sendable {
    /// What is done on the resident's thread.
    public typealias Letter = @Sendable (Resident) -> Void

    /// Becomes readable when there are letters.
    public let descriptor: Int32
    private let letters = Locked<[Letter]>([])

    /// Makes an empty mailbox; fails only where the process has no descriptor left.
    public init() {
        descriptor = martlet_eventfd()
        guard descriptor >= 0 else { fatalError("out of file descriptors creating a mailbox") }
    }

    deinit {
        close(descriptor)
    }

    /// Puts a letter in and wakes the loop.
    public func post(_ letter: @escaping Letter) {
        let wasEmpty = letters.withLock { letters in
            letters.append(letter)
            return letters.count == 1
        }
        guard wasEmpty else { return }
        var one: UInt64 = 1
        unsafe write(descriptor, &one, 8)
    }

    /// Opens the letters that are there, in the order in which they came.
    ///
    /// - Parameters:
    ///   - resident: what they are handed.
    ///   - paused: whether those behind a letter are to wait.
    /// - Returns: whether some wait; they are the first to be opened when this is called again.
    @discardableResult
    public func drain(into resident: Resident, paused: () -> Bool = { false }) -> Bool {
        var count: UInt64 = 0
        unsafe read(descriptor, &count, 8)
        let taken = letters.withLock { letters in
            defer { letters = [] }
            return letters
        }
        for (index, letter) in taken.enumerated() {
            letter(resident)
            let next = index + 1
            guard next < taken.count, paused() else { continue }
            letters.withLock { $0.insert(contentsOf: taken[next...], at: 0) }
            return true
        }
        return false
    }
}

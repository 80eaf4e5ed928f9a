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
        guard descriptor >= 0 else { fatalError("there is no descriptor for a mailbox") }
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
        if wasEmpty { wake() }
    }

    /// Opens the letters that are there, in the order in which they came.
    ///
    /// - Parameters:
    ///   - resident: what they are handed.
    ///   - paused: whether those behind a letter wait for the next turn of the loop.
    public func drain(into resident: Resident, paused: () -> Bool = { false }) {
        var count: UInt64 = 0
        unsafe read(descriptor, &count, 8)
        let taken = letters.withLock { letters in
            defer { letters = [] }
            return letters
        }
        for (index, letter) in taken.enumerated() {
            letter(resident)
            let next = index + 1
            if next < taken.count, paused() { return putBack(taken[next...]) }
        }
    }

    private func putBack(_ rest: ArraySlice<Letter>) {
        letters.withLock { $0.insert(contentsOf: rest, at: 0) }
        wake()
    }

    private func wake() {
        var one: UInt64 = 1
        unsafe write(descriptor, &one, 8)
    }
}

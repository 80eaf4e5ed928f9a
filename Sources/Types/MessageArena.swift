internal import Bytes
internal import CUpb

/// The memory of messages while they are read and written, with a bound; belongs to one thread.
@safe
final class MessageArena {
    let inside: OpaquePointer
    /// How many fields of the messages have been left out, since they are in one form only.
    var leftOut = 0

    /// Makes one that gives out at most `limit` bytes.
    init(limit: Int) {
        guard let inside = unsafe martlet_arena_new(limit) else { fatalError("out of memory") }
        unsafe self.inside = inside
    }

    deinit {
        unsafe martlet_arena_free(inside)
    }

    /// Bounds what is put into it from now on; to be called while it is empty.
    func setLimit(_ limit: Int) {
        unsafe martlet_arena_set_limit(inside, limit)
    }

    /// Forgets what is in it: pointers into it are good no more.
    func empty() {
        unsafe martlet_arena_empty(inside)
        leftOut = 0
    }

    /// A copy of bytes that is good until the arena is emptied.
    func copy(_ bytes: Span<UInt8>) throws(MessageError) -> Text {
        let copied = unsafe bytes.withUnsafeBytes { unsafe martlet_arena_copy(inside, $0.baseAddress, $0.count) }
        guard let copied = unsafe copied else { throw .memory }
        return unsafe Text(martlet_text(bytes: copied, count: bytes.count))
    }
}

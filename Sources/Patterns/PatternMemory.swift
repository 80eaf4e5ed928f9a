internal import CPCRE2
internal import Glibc

/// What PCRE2 needs of a thread while it matches: made when the thread first matches something, and freed with the thread.
@safe
final class PatternMemory {
    private static let matchLimit: UInt32 = 20_000
    private static let heapLimitInKiB: UInt32 = 4 * 1024
    private static let stackLimit = 512 * 1024
    /// Most patterns have fewer groups.
    private static let usualGroups = 15

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let error = unsafe pthread_key_create(&key) { memory in
            if let memory = unsafe memory { unsafe Unmanaged<PatternMemory>.fromOpaque(memory).release() }
        }
        precondition(error == 0, "the process has no key for thread-specific data left")
        return key
    }()

    /// The memory of the thread that asks.
    static var ofThread: PatternMemory {
        if let known = unsafe pthread_getspecific(key) {
            return unsafe Unmanaged<PatternMemory>.fromOpaque(known).takeUnretainedValue()
        }
        let new = PatternMemory()
        let error = unsafe pthread_setspecific(key, Unmanaged.passRetained(new).toOpaque())
        precondition(error == 0, "out of memory for thread-specific data")
        return new
    }

    /// How many subjects the thread has given up because a limit was hit.
    var limitHits = 0
    private var match: OpaquePointer
    private var groups: Int
    private let limits: OpaquePointer
    private let stack: OpaquePointer?

    private init() {
        groups = Self.usualGroups
        unsafe match = pcre2_match_data_create_8(UInt32(Self.usualGroups + 1), nil)
        unsafe limits = pcre2_match_context_create_8(nil)
        unsafe pcre2_set_match_limit_8(limits, Self.matchLimit)
        unsafe pcre2_set_depth_limit_8(limits, Self.matchLimit)
        unsafe pcre2_set_heap_limit_8(limits, Self.heapLimitInKiB)
        unsafe stack = pcre2_jit_stack_create_8(32 * 1024, Self.stackLimit, nil)
        unsafe pcre2_jit_stack_assign_8(limits, nil, UnsafeMutableRawPointer(stack))
    }

    deinit {
        unsafe pcre2_jit_stack_free_8(stack)
        unsafe pcre2_match_context_free_8(limits)
        unsafe pcre2_match_data_free_8(match)
    }

    /// Makes room for so many groups.
    func reserve(groups count: Int) {
        guard count > groups else { return }
        groups = count
        unsafe pcre2_match_data_free_8(match)
        unsafe match = pcre2_match_data_create_8(UInt32(count + 1), nil)
    }

    /// Looks for a match that begins at `start` or later, but before `end`; positive if there is one.
    @unsafe
    func match(_ code: OpaquePointer, _ subject: Span<UInt8>, from start: Int, before end: Int, _ options: UInt32)
        -> Int32
    {
        unsafe pcre2_set_offset_limit_8(limits, end - 1)
        return unsafe subject.withUnsafeBufferPointer { bytes in
            // Older versions reject a null pointer even for no bytes.
            let base = unsafe bytes.baseAddress ?? ("" as StaticString).utf8Start
            return unsafe pcre2_match_8(code, base, bytes.count, start, options, match, limits)
        }
    }

    /// The bytes of a group of the last match.
    ///
    /// - Precondition: the pattern has the group.
    func group(_ number: Int) -> Range<Int> {
        let offsets = unsafe pcre2_get_ovector_pointer_8(match)!
        let start = unsafe offsets[2 * number]
        let end = unsafe offsets[2 * number + 1]
        return start < 0 || end < start ? 0..<0 : start..<end
    }
}

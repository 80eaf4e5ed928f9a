public import Bytes
internal import CPCRE2
internal import Glibc

/// A regular expression of PCRE2, over bytes; `\G` and `(*UTF)` are not supported.
///
/// Compiled once, with JIT where the system lets it; a match allocates nothing. Belongs to one thread. What goes beyond the
/// limits does not match: a search ends after 20 ms and the starting points under way.
@safe
public final class Pattern {
    /// The longest subject that is looked at, in bytes: as much as a head may have by default.
    public static let maxSubject = 64 * 1024

    /// The number of capturing groups.
    public let groupCount: Int
    /// How many subjects were given up because a limit was hit.
    private(set) var limitHits = 0

    private let code: OpaquePointer
    private let match: OpaquePointer
    private let limits: OpaquePointer
    private let stack: OpaquePointer?

    // PCRE2 counts the work from each starting point alone, and the interpreter does not count all of it. So a long
    // subject is searched some starting points at a time, with a look at the clock in between: few at first, and more
    // as long as they take no time to speak of.
    private let maxStarts: Int
    private var runs = 0
    private var lastCheck = 0
    private var deadline = 0
    private static let firstStarts = 16
    private static let quickRunInNanoseconds = 500_000
    private static let maxSearchInNanoseconds = 20_000_000
    private static let matchLimit: UInt32 = 20_000
    private static let heapLimitInKiB: UInt32 = 4 * 1024
    private static let stackLimit = 512 * 1024

    /// Compiles `text`; an error has the words of PCRE2.
    public init(_ text: String) throws(PatternError) {
        var error: Int32 = 0
        var offset = 0
        let pattern = Array(text.utf8)
        let options = PCRE2_USE_OFFSET_LIMIT | PCRE2_NEVER_UTF
        guard let code = unsafe pcre2_compile_8(pattern, pattern.count, options, &error, &offset, nil) else {
            throw PatternError(offset: offset, message: Self.message(error))
        }
        unsafe self.code = code
        unsafe match = pcre2_match_data_create_from_pattern_8(code, nil)
        unsafe limits = pcre2_match_context_create_8(nil)
        unsafe pcre2_set_match_limit_8(limits, Self.matchLimit)
        unsafe pcre2_set_depth_limit_8(limits, Self.matchLimit)
        unsafe pcre2_set_heap_limit_8(limits, Self.heapLimitInKiB)
        // Where memory may not be made executable there is no JIT, and the interpreter does the same more slowly.
        _ = unsafe pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE)
        var jitSize = 0
        _ = unsafe pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_JITSIZE), &jitSize)
        unsafe stack = jitSize > 0 ? pcre2_jit_stack_create_8(32 * 1024, Self.stackLimit, nil) : nil
        unsafe pcre2_jit_stack_assign_8(limits, nil, UnsafeMutableRawPointer(stack))
        maxStarts = jitSize > 0 ? 1024 : 4
        var groups: UInt32 = 0
        _ = unsafe pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_CAPTURECOUNT), &groups)
        groupCount = Int(groups)
    }

    deinit {
        unsafe pcre2_jit_stack_free_8(stack)
        unsafe pcre2_match_context_free_8(limits)
        unsafe pcre2_match_data_free_8(match)
        unsafe pcre2_code_free_8(code)
    }

    /// Whether the pattern is found anywhere in `subject`.
    public func matches(_ subject: Span<UInt8>) -> Bool {
        runs = 0
        return find(in: subject, from: 0, options: 0)
    }

    /// Appends `subject` to `queue` with every match replaced.
    ///
    /// Where a limit is hit the rest of the subject stays as it is.
    ///
    /// - Returns: whether there was a match; nothing is appended if there was none.
    public func replaceAll(in subject: Span<UInt8>, with replacement: Replacement, into queue: ByteQueue) -> Bool {
        runs = 0
        var hasReplaced = false
        var position = 0
        var options: UInt32 = 0
        while find(in: subject, from: position, options: options) {
            let found = group(0)
            // Only a \K in an assertion could lead back, which PCRE2 rejects since 10.38.
            guard found.lowerBound >= position else { break }
            queue.append(subject.extracting(position..<found.lowerBound))
            replacement.append(to: queue, group: group, of: subject)
            hasReplaced = true
            position = found.upperBound
            // After an empty match the next may not be empty in the same place, or there would be no end of them.
            options = found.isEmpty ? PCRE2_NOTEMPTY_ATSTART : 0
        }
        guard hasReplaced else { return false }
        queue.append(subject.extracting(position..<subject.count))
        return true
    }

    private func find(in subject: Span<UInt8>, from start: Int, options: UInt32) -> Bool {
        let status = subject.count <= Self.maxSubject ? search(subject, start, options) : PCRE2_ERROR_MATCHLIMIT
        if status < 0, status != PCRE2_ERROR_NOMATCH { limitHits += 1 }
        return status > 0
    }

    private func search(_ subject: Span<UInt8>, _ start: Int, _ options: UInt32) -> Int32 {
        var next = start
        var starts = min(Self.firstStarts, maxStarts)
        while next <= subject.count {
            guard hasTime(for: &starts) else { return PCRE2_ERROR_MATCHLIMIT }
            let status = run(subject, next, before: next + starts, next == start ? options : 0)
            if status != PCRE2_ERROR_NOMATCH { return status }
            next += starts
        }
        return PCRE2_ERROR_NOMATCH
    }

    /// Whether there is time for one more run, and for how many starting points.
    ///
    /// The clock is not read for the first, which is mostly the only one.
    private func hasTime(for starts: inout Int) -> Bool {
        runs += 1
        if runs == 1 { return true }
        let now = Self.threadTime
        if runs == 2 {
            deadline = now + Self.maxSearchInNanoseconds
        } else if now - lastCheck < Self.quickRunInNanoseconds {
            starts = min(maxStarts, 2 * starts)
        } else {
            starts = min(maxStarts, max(1, starts / 2))
        }
        lastCheck = now
        return now < deadline
    }

    /// Looks for a match that begins at `start` or later, but before `end`.
    private func run(_ subject: Span<UInt8>, _ start: Int, before end: Int, _ options: UInt32) -> Int32 {
        unsafe pcre2_set_offset_limit_8(limits, end - 1)
        return unsafe subject.withUnsafeBufferPointer { bytes in
            // Older versions reject a null pointer even for no bytes.
            let base = unsafe bytes.baseAddress ?? ("" as StaticString).utf8Start
            return unsafe pcre2_match_8(code, base, bytes.count, start, options, match, limits)
        }
    }

    /// The processor time of this thread in nanoseconds: a match must not depend on how busy the host is.
    private static var threadTime: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// The bytes of a group of the last match; none for a group that took no part.
    private func group(_ number: Int) -> Range<Int> {
        guard number <= groupCount else { return 0..<0 }
        let offsets = unsafe pcre2_get_ovector_pointer_8(match)!
        let start = unsafe offsets[2 * number]
        let end = unsafe offsets[2 * number + 1]
        return start < 0 || end < start ? 0..<0 : start..<end
    }

    private static func message(_ error: Int32) -> String {
        var text = [UInt8](repeating: 0, count: 256)
        let length = unsafe pcre2_get_error_message_8(error, &text, text.count)
        return length < 0 ? "not a valid regular expression" : String(decoding: text[..<Int(length)], as: UTF8.self)
    }
}

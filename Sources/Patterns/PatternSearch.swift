internal import CPCRE2
internal import Glibc

/// A search in one subject, which has a limit of time.
///
/// PCRE2 counts the work from each starting point alone, and the interpreter does not count all of it. So a long subject is
/// searched some starting points at a time, with a look at the clock in between: few at first, and more as long as they take
/// no time to speak of.
struct PatternSearch {
    private static let firstStarts = 16
    private static let quickRunInNanoseconds = 500_000
    private static let maxSearchInNanoseconds = 20_000_000

    private let memory = PatternMemory.ofThread
    private let maxStarts: Int
    private var runs = 0
    private var lastCheck = 0
    private var deadline = 0

    init(maxStarts: Int) {
        self.maxStarts = maxStarts
    }

    /// Looks for a match that begins at `start` or later.
    ///
    /// - Returns: a positive number if there is one, `PCRE2_ERROR_NOMATCH`, or what kept it from being found.
    @unsafe
    mutating func run(
        _ code: OpaquePointer,
        groups: Int,
        in subject: Span<UInt8>,
        from start: Int,
        _ options: UInt32
    ) -> Int32 {
        memory.reserve(groups: groups)
        var next = start
        var starts = min(Self.firstStarts, maxStarts)
        while next <= subject.count {
            guard hasTime(for: &starts) else { return PCRE2_ERROR_MATCHLIMIT }
            let options = next == start ? options : 0
            let status = unsafe memory.match(code, subject, from: next, before: next + starts, options)
            if status != PCRE2_ERROR_NOMATCH { return status }
            next += starts
        }
        return PCRE2_ERROR_NOMATCH
    }

    /// The bytes of a group of the last match; none for a group that took no part.
    func group(_ number: Int) -> Range<Int> { memory.group(number) }

    /// Whether there is time for one more run, and for how many starting points.
    ///
    /// The clock is not read for the first, which is mostly the only one.
    private mutating func hasTime(for starts: inout Int) -> Bool {
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

    /// The processor time of this thread in nanoseconds: a match must not depend on how busy the host is.
    private static var threadTime: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

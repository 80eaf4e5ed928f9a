public import Bytes
internal import CPCRE2

/// A regular expression of PCRE2, over bytes; `\G` and `(*UTF)` are not supported.
///
/// Compiled once, with JIT where the system lets it, and then used on any thread. What a match needs is allocated at the
/// thread's first one, and when a pattern has more groups than any before it. What goes beyond the limits does not match: a
/// search ends after 20 ms and the starting points under way.
@safe
public final class Pattern: @unchecked Sendable {
    /// The longest subject that is looked at, in bytes: as much as a head may have by default.
    public static let maxSubject = 64 * 1024

    /// The number of capturing groups.
    public let groupCount: Int

    private let code: OpaquePointer
    /// How many starting points are tried at most between two looks at the clock.
    private let maxStarts: Int

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
        // Where memory may not be made executable there is no JIT, and the interpreter does the same more slowly.
        _ = unsafe pcre2_jit_compile_8(code, PCRE2_JIT_COMPLETE)
        var jitSize = 0
        _ = unsafe pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_JITSIZE), &jitSize)
        maxStarts = jitSize > 0 ? 1024 : 4
        var groups: UInt32 = 0
        _ = unsafe pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_CAPTURECOUNT), &groups)
        groupCount = Int(groups)
    }

    deinit {
        unsafe pcre2_code_free_8(code)
    }

    /// Whether the pattern is found anywhere in `subject`.
    public func matches(_ subject: Span<UInt8>) -> Bool {
        var search = PatternSearch(maxStarts: maxStarts)
        return find(in: subject, from: 0, options: 0, &search)
    }

    /// Appends `subject` to `queue` with every match replaced.
    ///
    /// Where a limit is hit the rest of the subject stays as it is.
    ///
    /// - Returns: whether there was a match; nothing is appended if there was none.
    public func replaceAll(in subject: Span<UInt8>, with replacement: Replacement, into queue: ByteQueue) -> Bool {
        var search = PatternSearch(maxStarts: maxStarts)
        var hasReplaced = false
        var position = 0
        var options: UInt32 = 0
        while find(in: subject, from: position, options: options, &search) {
            let found = search.group(0)
            // Only a \K in an assertion could lead back, which PCRE2 rejects since 10.38.
            guard found.lowerBound >= position else { break }
            queue.append(subject.extracting(position..<found.lowerBound))
            replacement.append(to: queue, group: { $0 <= groupCount ? search.group($0) : 0..<0 }, of: subject)
            hasReplaced = true
            position = found.upperBound
            // After an empty match the next may not be empty in the same place, or there would be no end of them.
            options = found.isEmpty ? PCRE2_NOTEMPTY_ATSTART : 0
        }
        guard hasReplaced else { return false }
        queue.append(subject.extracting(position..<subject.count))
        return true
    }

    private func find(
        in subject: Span<UInt8>,
        from start: Int,
        options: UInt32,
        _ search: inout PatternSearch
    ) -> Bool {
        let status =
            subject.count <= Self.maxSubject
            ? unsafe search.run(code, groups: groupCount, in: subject, from: start, options) : PCRE2_ERROR_MATCHLIMIT
        if status < 0, status != PCRE2_ERROR_NOMATCH { PatternMemory.ofThread.limitHits += 1 }
        return status > 0
    }

    private static func message(_ error: Int32) -> String {
        var text = [UInt8](repeating: 0, count: 256)
        let length = unsafe pcre2_get_error_message_8(error, &text, text.count)
        return length < 0 ? "not a valid regular expression" : String(decoding: text[..<Int(length)], as: UTF8.self)
    }
}

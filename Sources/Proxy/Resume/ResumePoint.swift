internal import Bytes
internal import HTTP
internal import Time

/// How far the body of a response has come, and what continues it (RFC 9110 §13.1.5, §14 and §15.3.7).
///
/// Pure: it is given the head that begins the response, the bytes that come, and the head that is to continue it. Bytes of two
/// versions are never joined: what is not surely of the same version does not continue the response.
struct ResumePoint: Equatable {
    /// What the head of another response says of the one that has broken off.
    enum Continuation: Equatable {
        /// It continues it, behind this many bytes.
        case continues(skipping: Int)
        /// It is of another version.
        case changed
        /// The server cannot respond at this time.
        case unavailable
        /// It is something else.
        case rejected
    }

    /// Where the body lies in the representation.
    private let range: ContentRange
    /// Whether the body is a part that the caller has asked for.
    private let isPartial: Bool
    private let validator: StrongValidator
    private let coding: [UInt8]?
    /// How many bytes of the body have come.
    private(set) var received = 0

    /// The point at which a response begins.
    ///
    /// None if the response cannot be resumed: it is no 200 or 206 of one range, its length is not known, or its validator is
    /// weak.
    ///
    /// - Parameters:
    ///   - head: the head as the upstream has sent it.
    ///   - now: the time of day.
    init?(_ head: HTTPHead, now: WallTime) {
        guard let length = head.contentLength, length > 0, !head.hasManyParts,
            let validator = StrongValidator(head, now: now)
        else { return nil }
        switch head.status {
        case 200: range = ContentRange(first: 0, last: length - 1, total: length)
        case 206:
            guard let range = head.contentRange, range.count == length else { return nil }
            self.range = range
        default: return nil
        }
        guard head.first(Self.codingName) == nil || head.single(Self.codingName) != nil else { return nil }
        coding = head.single(Self.codingName)
        isPartial = head.status == 206
        self.validator = validator
    }

    private static let codingName = FieldName("content-encoding")
    private static let rangeName = FieldName("range")
    private static let ifRangeName = FieldName("if-range")

    /// How many bytes are still to come.
    var left: Int { range.count - received }

    /// The next byte, counted from the first one of the representation.
    var offset: Int { range.first + received }

    /// Notes that bytes of the body have come.
    ///
    /// - Returns: false if they are more than there can be.
    mutating func receive(_ count: Int) -> Bool {
        guard count <= left else { return false }
        received += count
        return true
    }

    /// Makes the head of the request ask for what is still to come.
    func ask(_ request: HTTPHead) {
        let end = isPartial ? "\(range.last)" : ""
        request.set(Self.rangeName, Array("bytes=\(offset)-\(end)".utf8).span)
        request.set(Self.ifRangeName, validator.bytes.span)
    }

    /// What the head of the response to that says.
    func continuation(_ head: HTTPHead) -> Continuation {
        switch head.status {
        case 206: partial(head)
        case 200: whole(head)
        // The representation is shorter now, or a condition of the caller does not hold any more.
        case 416, 412: .changed
        case 502...504: .unavailable
        default: .rejected
        }
    }

    private func partial(_ head: HTTPHead) -> Continuation {
        guard !validator.isContradicted(by: head) else { return .changed }
        // What `if-range` has named need not be said once more (RFC 9110 §15.3.7), but a tag always is.
        guard !head.hasManyParts, validator.isConfirmed(by: head), isSameOrNoCoding(head), let part = head.contentRange
        else {
            return .rejected
        }
        guard part.total == range.total else { return .changed }
        let rest = ContentRange(first: offset, last: range.last, total: range.total)
        guard part == rest, head.contentLength ?? rest.count == rest.count else { return .rejected }
        return .continues(skipping: 0)
    }

    /// The server ignores ranges: with the same tag, the bytes that have come already come once more.
    private func whole(_ head: HTTPHead) -> Continuation {
        guard !validator.isContradicted(by: head), head.contentLength ?? range.total == range.total else {
            return .changed
        }
        guard case .tag = validator, validator.matches(head), isSameCoding(head) else { return .rejected }
        // What would follow the part belongs to nobody.
        guard range.last == range.total - 1 else { return .rejected }
        return .continues(skipping: offset)
    }

    private func isSameOrNoCoding(_ head: HTTPHead) -> Bool {
        head.first(Self.codingName) == nil || head.single(Self.codingName) == coding
    }

    private func isSameCoding(_ head: HTTPHead) -> Bool {
        (head.first(Self.codingName) == nil) == (coding == nil) && head.single(Self.codingName) == coding
    }
}

extension HTTPHead {
    private static let contentRangeName = FieldName("content-range")

    /// The range that the body is.
    fileprivate var contentRange: ContentRange? { single(Self.contentRangeName).flatMap { ContentRange($0.span) } }

    /// Whether the body has parts with heads of their own (RFC 9110 §14.6).
    fileprivate var hasManyParts: Bool {
        guard status == 206, let index = first(.contentType) else { return false }
        let type = value(at: index)
        return type.count >= 20 && type.extracting(0..<20).equalsIgnoringCase("multipart/byteranges")
    }
}

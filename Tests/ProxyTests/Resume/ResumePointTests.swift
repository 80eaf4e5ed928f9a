import Bytes
import HTTP
import Testing
import Time

@testable import Proxy

/// What continues a response that has broken off, and what can be continued at all.
@Suite struct ResumePointTests {
    private static let now = WallTime(secondsSince1970: 1_700_000_000)
    private static let tag = ("etag", "\"v1\"")

    private func head(_ status: Int, _ length: Int?, _ fields: (String, String)...) -> HTTPHead {
        let head = HTTPHead()
        head.status = status
        head.contentLength = length
        for (name, value) in fields { head.add(FieldName(name), Array(value.utf8).span) }
        return head
    }

    private func point(_ head: HTTPHead, receiving count: Int = 0) throws -> ResumePoint {
        var point = try #require(ResumePoint(head, now: Self.now))
        let isRoom = point.receive(count)
        #expect(isRoom)
        return point
    }

    private func asked(_ point: ResumePoint, _ fields: (String, String)...) -> [String] {
        let request = head(0, nil)
        for (name, value) in fields { request.add(FieldName(name), Array(value.utf8).span) }
        point.ask(request)
        return (0..<request.count).map { "\(request.name(at: $0).string): \(request.value(at: $0).string)" }
    }

    @Test func `the rest of a whole response is asked for without an end`() throws {
        let point = try point(head(200, 1000, Self.tag), receiving: 300)
        #expect(asked(point) == ["range: bytes=300-", "if-range: \"v1\""])
        #expect((point.left, point.offset) == (700, 300))
    }

    @Test func `the rest of a range keeps the offset and the end, and replaces what the caller asked for`() throws {
        let point = try point(head(206, 100, Self.tag, ("content-range", "bytes 500-599/1000")), receiving: 30)
        let request = asked(point, ("range", "bytes=500-599"), ("if-range", "\"v1\""))
        #expect(request == ["range: bytes=530-599", "if-range: \"v1\""])
    }

    @Test func `there are no more bytes than the length says`() throws {
        var point = try point(head(200, 10, Self.tag), receiving: 9)
        let accepted = [point.receive(2), point.receive(1)]
        #expect(accepted == [false, true])
        #expect(point.left == 0)
    }

    // MARK: What can be continued

    @Test func `a response without a length, of another status or of several parts cannot be continued`() {
        let range = ("content-range", "bytes 0-9/10")
        for (status, length) in [(200, nil), (200, 0), (201, 10), (404, 10), (206, 9)] as [(Int, Int?)] {
            #expect(ResumePoint(head(status, length, Self.tag, range), now: Self.now) == nil, "\(status)")
        }
        let parts = ("content-type", "Multipart/ByteRanges; boundary=x")
        #expect(ResumePoint(head(206, 10, Self.tag, range, parts), now: Self.now) == nil)
        #expect(ResumePoint(head(206, 10, Self.tag, range), now: Self.now) != nil)
    }

    @Test(arguments: [
        "W/\"v1\"", "w/\"v1\"", "v1", "\"v1", "\"", "", "\"v\"1\"", "\"v 1\"", "\"v1\", \"v2\"",
    ])
    func `what is no strong tag is none`(_ tag: String) {
        #expect(ResumePoint(head(200, 10, ("etag", tag)), now: Self.now) == nil)
    }

    @Test func `of two tags none counts`() {
        #expect(ResumePoint(head(200, 10, Self.tag, Self.tag), now: Self.now) == nil)
    }

    @Test(arguments: [
        ("Mon, 02 Jan 2023 10:00:00 GMT", "Mon, 02 Jan 2023 10:01:00 GMT", true),
        ("Mon, 02 Jan 2023 10:00:00 GMT", "Mon, 02 Jan 2023 10:00:59 GMT", false),
        ("Mon, 02 Jan 2023 10:01:00 GMT", "Mon, 02 Jan 2023 10:00:00 GMT", false),
        ("Mon, 02 Jan 2023 10:00:00 GMT", "yesterday", false),
        ("yesterday", "Mon, 02 Jan 2023 10:00:00 GMT", false),
    ])
    func `a date is strong when it is a minute old`(_ modified: String, _ date: String, _ isStrong: Bool) throws {
        let head = head(200, 10, ("last-modified", modified), ("date", date))
        #expect((ResumePoint(head, now: Self.now) != nil) == isStrong)
        // A weak tag is not made up for.
        head.add(FieldName("etag"), Array("W/\"v1\"".utf8).span)
        #expect(ResumePoint(head, now: Self.now) == nil)
    }

    // MARK: What continues it

    private func continuation(_ next: HTTPHead) throws -> ResumePoint.Continuation {
        try point(head(200, 1000, Self.tag), receiving: 300).continuation(next)
    }

    @Test func `the exact rest continues it, with a length or without`() throws {
        let range = ("content-range", "bytes 300-999/1000")
        #expect(try continuation(head(206, 700, Self.tag, range)) == .continues(skipping: 0))
        #expect(try continuation(head(206, nil, Self.tag, range)) == .continues(skipping: 0))
        #expect(try continuation(head(206, 699, Self.tag, range)) == .rejected)
        #expect(try continuation(head(206, 700, range)) == .rejected)
        #expect(try continuation(head(206, 700, ("etag", "\"v2\""), range)) == .changed)
        #expect(try continuation(head(206, 700, ("etag", "W/\"v1\""), range)) == .changed)
        #expect(try continuation(head(206, 700, Self.tag, range, range)) == .rejected)
        #expect(try continuation(head(206, 700, Self.tag, range, ("content-encoding", "gzip"))) == .rejected)
        #expect(
            try continuation(head(206, 700, Self.tag, range, ("content-type", "multipart/byteranges"))) == .rejected
        )
    }

    @Test(arguments: [
        ("bytes 300-999/1001", ResumePoint.Continuation.changed), ("bytes 300-998/1000", .rejected),
        ("bytes 299-999/1000", .rejected), ("bytes 301-999/1000", .rejected), ("bytes 300-999/*", .rejected),
        ("bytes */1000", .rejected), ("bytes 300-999", .rejected), ("bytes=300-999/1000", .rejected),
        ("items 300-999/1000", .rejected), ("bytes +300-999/1000", .rejected), ("bytes 300-1000/1000", .rejected),
        ("bytes 300-999/1000, 0-1/1000", .rejected), ("bytes 300-99999999999999999999/1000", .rejected),
        ("BYTES 300-999/1000", .continues(skipping: 0)), ("", .rejected),
    ])
    func `any other range does not`(_ range: String, _ expected: ResumePoint.Continuation) throws {
        #expect(try continuation(head(206, nil, Self.tag, ("content-range", range))) == expected)
    }

    @Test func `the whole of the same version is skipped as far as it is there`() throws {
        #expect(try continuation(head(200, 1000, Self.tag)) == .continues(skipping: 300))
        #expect(try continuation(head(200, nil, Self.tag)) == .continues(skipping: 300))
        #expect(try continuation(head(200, 999, Self.tag)) == .changed)
        #expect(try continuation(head(200, 1000, ("etag", "\"v2\""))) == .changed)
        #expect(try continuation(head(200, 1000)) == .rejected)
    }

    @Test func `the whole is skipped for a range that goes to the end, and for no other`() throws {
        let last = try point(head(206, 100, Self.tag, ("content-range", "bytes 900-999/1000")), receiving: 7)
        #expect(last.continuation(head(200, 1000, Self.tag)) == .continues(skipping: 907))
        let middle = try point(head(206, 100, Self.tag, ("content-range", "bytes 800-899/1000")), receiving: 7)
        #expect(middle.continuation(head(200, 1000, Self.tag)) == .rejected)
    }

    @Test func `a date continues parts, and no whole response`() throws {
        let modified = ("last-modified", "Mon, 02 Jan 2023 10:00:00 GMT")
        let date = ("date", "Mon, 02 Jan 2023 11:00:00 GMT")
        let point = try point(head(200, 1000, modified, date), receiving: 300)
        let range = ("content-range", "bytes 300-999/1000")
        #expect(asked(point).last == "if-range: \(modified.1)")
        #expect(point.continuation(head(206, 700, modified, range)) == .continues(skipping: 0))
        #expect(point.continuation(head(206, 700, ("last-modified", date.1), range)) == .changed)
        #expect(point.continuation(head(206, 700, modified, range, Self.tag)) == .changed)
        #expect(point.continuation(head(200, 1000, modified)) == .rejected)
    }

    @Test(arguments: [
        (416, ResumePoint.Continuation.changed), (412, .changed), (304, .rejected), (404, .rejected), (500, .rejected),
        (502, .unavailable), (503, .unavailable), (504, .unavailable),
    ])
    func `no other status does`(_ status: Int, _ expected: ResumePoint.Continuation) throws {
        #expect(try continuation(head(status, 0, Self.tag)) == expected)
    }

    @Test func `a coding has to stay`() throws {
        let gzip = ("content-encoding", "gzip")
        let range = ("content-range", "bytes 300-999/1000")
        let point = try point(head(200, 1000, Self.tag, gzip), receiving: 300)
        #expect(point.continuation(head(206, 700, Self.tag, range, gzip)) == .continues(skipping: 0))
        // A part need not say it once more.
        #expect(point.continuation(head(206, 700, Self.tag, range)) == .continues(skipping: 0))
        #expect(point.continuation(head(206, 700, Self.tag, range, ("content-encoding", "br"))) == .rejected)
    }
}

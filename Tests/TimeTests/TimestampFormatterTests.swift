import Bytes
import Testing
import Time

@Suite struct TimestampFormatterTests {
    @Test(arguments: [
        (0, 0, "1970-01-01T00:00:00.000Z"),
        (-1, 999_999_999, "1969-12-31T23:59:59.999Z"),
        (951_782_400, 0, "2000-02-29T00:00:00.000Z"),
        (1_709_251_199, 1_000_000, "2024-02-29T23:59:59.001Z"),
        (1_709_251_200, 999_999, "2024-03-01T00:00:00.000Z"),
        (1_795_173_133, 123_987_654, "2026-11-20T11:12:13.123Z"),
        (4_107_542_399, 0, "2100-02-28T23:59:59.000Z"),
        (4_107_542_400, 0, "2100-03-01T00:00:00.000Z"),
        (9_223_372_036, 854_775_807, "2262-04-11T23:47:16.854Z"),
    ])
    func `times are formatted in UTC`(seconds: Int, nanoseconds: Int64, expected: String) {
        let formatter = TimestampFormatter()
        #expect(
            text { formatter.append(WallTime(secondsSince1970: seconds) + .nanoseconds(nanoseconds), to: $0) }
                == expected
        )
    }

    @Test func `the text follows the second, forward and back`() {
        let formatter = TimestampFormatter()
        let rendered = text {
            for seconds in [59, 59, 60, 59] { formatter.append(WallTime(secondsSince1970: seconds), to: $0) }
        }
        #expect(
            rendered == "1970-01-01T00:00:59.000Z" + "1970-01-01T00:00:59.000Z" + "1970-01-01T00:01:00.000Z"
                + "1970-01-01T00:00:59.000Z"
        )
    }

    private func text(_ write: (ByteQueue) -> Void) -> String {
        let queue = ByteQueue()
        write(queue)
        return queue.readable.string
    }
}

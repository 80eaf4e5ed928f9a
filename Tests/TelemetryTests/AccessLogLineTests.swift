import Bytes
import Testing
import Time

@testable import Telemetry

@Suite struct AccessLogLineTests {
    @Test func `a line is one JSON object with its fields in order`() {
        let line = line {
            $0.field("call", text: Array("0123456789abcdef".utf8).span)
            $0.field("protocol", text: "connect_unary")
            $0.field("route", number: 0)
            $0.null("upstream")
            $0.field("duration_ms", milliseconds: .nanoseconds(1_234_567))
            $0.beginObject("stages")
            $0.field("queue_ms", milliseconds: .nanoseconds(999))
            $0.field("connect_ms", milliseconds: .nanoseconds(61_005_000_000))
            $0.endObject()
            $0.field("attempts", number: 1)
        }
        #expect(
            line == #"{"time":"2026-11-20T11:12:13.123Z","call":"0123456789abcdef","protocol":"connect_unary","#
                + #""route":0,"upstream":null,"duration_ms":1.234,"stages":{"queue_ms":0.000,"connect_ms":61005.000},"#
                + #""attempts":1}"# + "\n"
        )
    }

    @Test func `an object may be empty`() {
        let line = line {
            $0.beginObject("stages")
            $0.endObject()
            $0.field("attempts", number: 0)
        }
        #expect(line.hasSuffix(#","stages":{},"attempts":0}"# + "\n"))
    }

    @Test func `text from a caller cannot leave its field`() {
        let line = line { $0.field("path", text: Array("/a\",\"code\":\"ok\\\r\n{\u{1b}".utf8).span) }
        #expect(line.hasSuffix(#","path":"/a\",\"code\":\"ok\\\r\n{\u001b"}"# + "\n"))
    }

    @Test func `text that is not UTF-8 stays JSON`() {
        let line = line { $0.field("path", text: ([0x2f, 0xff, 0x22] as [UInt8]).span) }
        #expect(line.hasSuffix(",\"path\":\"/\u{fffd}\\\"\"}\n"))
    }

    private func line(_ fields: (inout AccessLogLine) -> Void) -> String {
        text {
            var line = AccessLogLine(
                to: $0,
                at: WallTime(secondsSince1970: 1_795_173_133) + .milliseconds(123),
                formatter: TimestampFormatter()
            )
            fields(&line)
            line.end()
        }
    }
}

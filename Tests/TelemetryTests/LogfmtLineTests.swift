import Bytes
import Testing
import Time

@testable import Telemetry

@Suite struct LogfmtLineTests {
    @Test func `a line has its time, level, message and fields`() {
        let line = line("ready") {
            $0.field("generation", 1)
            $0.field("address", "127.0.0.1:8080")
        }
        #expect(line == "2026-11-20T11:12:13.123Z info ready generation=1 address=127.0.0.1:8080\n")
    }

    @Test(arguments: [
        ("", #""""#),
        ("plain-word/π", "plain-word/π"),
        ("two words", #""two words""#),
        ("a=b", #""a=b""#),
        (#"say "hi""#, #""say \"hi\"""#),
        (#"C:\x"#, #""C:\\x""#),
        ("x\n2026-11-20T11:12:13.123Z error forged", #""x\n2026-11-20T11:12:13.123Z error forged""#),
        ("x\r\n\ty", #""x\r\n\ty""#),
        ("\u{0}\u{1b}[31m\u{7f}", #""\u0000\u001b[31m\u007f""#),
        ("\u{9b}31m", #""\u009b31m""#),
        ("a\u{202e}b\u{2028}c", #""a\u202eb\u2028c""#),
        ("\u{e0041}", #""\udb40\udc41""#),
    ])
    func `a value stays one value on one line`(value: String, expected: String) {
        let line = line("m") { $0.field("k", value) }
        #expect(line == "2026-11-20T11:12:13.123Z info m k=\(expected)\n")
    }

    @Test func `a message cannot begin a new line, and keeps its quotes`() {
        let line = line("martlet.yaml:1:1: unknown key \"he\nder\"; did you mean \"headers\"?") { _ in }
        #expect(
            line == "2026-11-20T11:12:13.123Z info "
                + #"martlet.yaml:1:1: unknown key "he\nder"; did you mean "headers"?"# + "\n"
        )
    }

    @Test func `a line for the journal begins with its priority and has no time`() {
        let line = text {
            let line = LogfmtLine(to: $0, .priority("<3>"), "error", "cannot start")
            line.field("reason", "no room")
            line.end()
        }
        #expect(line == "<3>error cannot start reason=\"no room\"\n")
    }

    private func line(_ message: String, _ fields: (LogfmtLine) -> Void) -> String {
        text {
            let formatter = TimestampFormatter()
            let lead = LogfmtLine.Lead.time(
                WallTime(secondsSince1970: 1_795_173_133) + .nanoseconds(123_000_000),
                formatter
            )
            let line = LogfmtLine(to: $0, lead, "info", message)
            fields(line)
            line.end()
        }
    }
}

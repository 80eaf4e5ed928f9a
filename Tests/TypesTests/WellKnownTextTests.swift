import Testing

@testable import Types

@Suite struct WellKnownTextTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", Int64(0), Int32(0), "1970-01-01T00:00:00Z"),
        ("0001-01-01T00:00:00Z", -62_135_596_800, 0, "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999999Z", 253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
        ("1969-12-31T23:59:59.5Z", -1, 500_000_000, "1969-12-31T23:59:59.500Z"),
        ("2020-02-29T01:00:00.000001+01:00", 1_582_934_400, 1000, "2020-02-29T00:00:00.000001Z"),
        ("2026-11-26T00:00:00-23:59", 1_795_737_540, 0, "2026-11-26T23:59:00Z"),
    ])
    func `a time is as in RFC 3339`(_ text: String, _ seconds: Int64, _ nanos: Int32, _ written: String) {
        let time = TimestampText.read(Array(text.utf8).span)
        #expect(time == SecondsAndNanos(seconds: seconds, nanos: nanos))
        #expect(time.flatMap(TimestampText.text) == written)
    }

    @Test(arguments: [
        "", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01t00:00:00Z", "1970-01-01T00:00:00z", "1970-01-01 00:00:00Z",
        "2021-02-29T00:00:00Z", "1970-13-01T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:60Z",
        "0000-12-31T23:59:59Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00.0000000001Z", "1970-01-01T00:00:00+0100", "1970-01-01T00:00:00+25:00",
        "+970-01-01T00:00:00Z",
        "1970-01-01T00:00:00.1.2Z", "1970-01-01T00:00:00ZZ",
    ])
    func `what is no time is none`(_ text: String) {
        #expect(TimestampText.read(Array(text.utf8).span) == nil)
    }

    @Test func `what no time has is not written`() {
        #expect(TimestampText.text(SecondsAndNanos(seconds: 0, nanos: -1)) == nil)
        #expect(TimestampText.text(SecondsAndNanos(seconds: 253_402_300_800, nanos: 0)) == nil)
        #expect(DurationText.text(SecondsAndNanos(seconds: 1, nanos: -1)) == nil)
        #expect(DurationText.text(SecondsAndNanos(seconds: 315_576_000_001, nanos: 0)) == nil)
    }

    @Test(arguments: [
        ("0s", Int64(0), Int32(0), "0s"), ("1.5s", 1, 500_000_000, "1.500s"), ("-0.000000001s", 0, -1, "-0.000000001s"),
        ("-1.5s", -1, -500_000_000, "-1.500s"), ("315576000000s", 315_576_000_000, 0, "315576000000s"),
        ("-315576000000.5s", -315_576_000_000, -500_000_000, "-315576000000.500s"),
    ])
    func `a duration is in seconds`(_ text: String, _ seconds: Int64, _ nanos: Int32, _ written: String) {
        let time = DurationText.read(Array(text.utf8).span)
        #expect(time == SecondsAndNanos(seconds: seconds, nanos: nanos))
        #expect(time.flatMap(DurationText.text) == written)
    }

    @Test(arguments: [
        "", "s", "1", "-s", "1.s", ".5s", "1.0000000001s", "315576000001s", "+1s", "1 s", "1e2s",
        "--1s",
    ])
    func `what is no duration is none`(_ text: String) {
        #expect(DurationText.read(Array(text.utf8).span) == nil)
    }

    @Test(arguments: [("a", "a"), ("foo_bar", "fooBar"), ("a.b_c", "a.bC"), ("a_b1", "aB1")])
    func `a path leads back to itself`(_ path: String, _ text: String) {
        #expect(FieldMaskText.lowerCamelCase(Array(path.utf8).span) == Array(text.utf8))
        #expect(FieldMaskText.snakeCase(Array(text.utf8).span) == Array(path.utf8))
    }

    @Test(arguments: ["fooBar", "foo__bar", "foo_", "foo_1", "a b", "_.a"])
    func `a path that would not is not written`(_ path: String) {
        #expect(FieldMaskText.lowerCamelCase(Array(path.utf8).span) == nil)
    }

    @Test(arguments: ["", "foo_bar", "a,b", "a-b"])
    func `what is no path in JSON is none`(_ text: String) {
        #expect(FieldMaskText.snakeCase(Array(text.utf8).span) == nil)
    }
}

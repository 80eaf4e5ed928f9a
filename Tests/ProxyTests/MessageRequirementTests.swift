import Bytes
import Configuration
import Telemetry
import Testing
import Time

@testable import Interceptors
@testable import Proxy

/// What the kind `message` requires of messages, and how it writes them down.
@Suite struct MessageRequirementTests {
    private func fault(_ yaml: String, _ message: String) -> String? {
        MessageRequirements(options(yaml, MessageRequirements.options)).error(of: Array(message.utf8).span)
    }

    @Test func `a message has a size`() {
        #expect(fault("{max: 4, min: 2B}", "abcd") == nil)
        #expect(fault("{max: 4, min: 2B}", "abcde") == "is too large: 5 B, the maximum is 4 B")
        #expect(fault("{max: 4, min: 2B}", "a") == "is too small: 1 B, the minimum is 2 B")
        #expect(fault("{max: 0}", "") == nil)
    }

    @Test func `a pattern is looked for in the bytes`() {
        #expect(fault(#"{pattern: "b\\x00?c"}"#, "abcd") == nil)
        #expect(fault(#"{pattern: "b\\x00c"}"#, "ab\0cd") == nil)
        #expect(fault("{pattern: '^b'}", "abcd") == "does not match the required pattern")
    }

    @Test(arguments: [
        ("/name: present", true), ("/none: present", false), ("/none: absent", true), ("/name: absent", false),
        ("/name: eliza", true), ("/name: elise", false), ("/tags/1: b", true), ("/tags/2: absent", true),
        ("/n: 3", true), ("/n: '3'", false), ("/on: true", true), ("/user: {id: 7}", true), ("/user: {id: 8}", false),
        ("/nil: ~", true), ("/nil: present", true), ("/word: 'present'", true), ("/name: 'present'", false),
        ("/name: present, /n: 4", false),
    ])
    func `JSON has in its places what is required`(_ places: String, _ isGood: Bool) {
        let message =
            #"{"name":"eliza","tags":["a","b"],"n":3,"on":true,"user":{"id":7},"nil":null,"word":"present"}"#
        #expect((fault("{json: {\(places)}}", message) == nil) == isGood)
    }

    @Test(arguments: ["", "name", "{\"name\":1", "\n\u{5}eliza"])
    func `what is not valid JSON has no places`(_ message: String) {
        #expect(fault("{json: {/name: absent}}", message) == "is not valid JSON")
    }

    @Test func `a fault names the place and not what is there`() {
        #expect(fault("{json: {/a/b: 1}}", #"{"a":{"b":"s3cret"}}"#) == "does not have the required value at /a/b")
    }

    @Test(arguments: [
        ("{on: request}", #"the interceptor does nothing; "#),
        ("{drop: true}", #""on" is missing; "#),
        ("{on: request, drop: true, replace: {text: a}}", #""replace" and "drop" cannot be set together; "#),
        ("{on: request, replace: {text: a, hex: 0a}}", #""text" and "hex" cannot be set together; "#),
        ("{on: request, replace: {hex: 0ag}}", #""hex" is not valid hexadecimal; "#),
        ("{on: request, replace: {hex: 0}}", #""hex" is not valid hexadecimal; "#),
        ("{on: request, replace: {base64: '*'}}", #""base64" is not valid base64; write for example AQID"#),
        ("{on: request, replace: {json: '{'}}", #""json" is not valid JSON: "#),
        ("{on: request, require: {}}", "there is no condition here; "),
        ("{on: request, require: {pattern: '('}}", ""),
        ("{on: request, require: {json: {name: 1}}}", #""name" is not a JSON Pointer; "#),
        ("{on: request, require: {json: {}}}", #""json" cannot be an empty mapping; "#),
        ("{on: request, drop: true, code: internal}", #""code" has no effect without "require"; "#),
        ("{on: request, tee: log.txt}", #""log.txt" is not a valid log destination; "#),
    ])
    func `what cannot be meant is rejected`(_ options: String, _ problem: String) {
        let found = problems("message: \(options)")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(problem) == true)
    }

    // MARK: The line of a message

    private func line(_ payload: [UInt8], limit: Int = 100) -> Substring {
        let queue = ByteQueue()
        var line = AccessLogLine(to: queue, at: .epoch, formatter: TimestampFormatter())
        MessageTee.write(payload.span, limit, to: &line)
        line.end()
        return queue.readable.string.drop { $0 != "," }.dropFirst().dropLast(2)
    }

    @Test func `text is written as it is, other bytes in base64`() {
        #expect(line(Array("{\"a\":\"ü\"}\0".utf8)) == #""payload":"{\"a\":\"ü\"}\u0000""#)
        #expect(line([0xff, 0, 1]) == #""payload_base64":"/wAB""#)
        #expect(line([]) == #""payload":"""#)
    }

    @Test func `what is too long is cut, between two characters`() {
        #expect(line(Array("aüü".utf8), limit: 4) == #""payload":"aü","truncated":true"#)
        #expect(line(Array("aüü".utf8), limit: 5) == #""payload":"aüü""#)
        #expect(line([0xff, 0, 1, 2], limit: 3) == #""payload_base64":"/wAB","truncated":true"#)
        #expect(line(Array("a".utf8), limit: 0) == #""payload":"","truncated":true"#)
    }
}

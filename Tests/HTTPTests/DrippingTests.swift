import HTTP
import Testing
import Time
import TimeKit

/// What peers cost that send their bytes one at a time.
@Suite struct DrippingTests {
    @Test func `a head that comes byte by byte is looked at once`() {
        let head = "GET / HTTP/1.1\r\nHost: a\r\nx: \(String(repeating: "v", count: 60_000))\r\n\r\n".bytes
        let caller = ScriptedCaller.served()
        let session = caller.session!
        var start = 0
        let time = ProcessorTime.measure {
            for end in 1...head.count { start += session.receive(head.span.extracting(start..<end)) }
        }
        #expect(caller.saw.last == "idle")
        // Searched from its beginning with each byte, the line would take two thousand million steps.
        #expect(time < .seconds(5))
    }

    @Test func `many names in Connection are looked for among many fields in little time`() {
        let names = (0..<200).map { "n\($0)" }.joined(separator: ",")
        let fields = (0..<197).map { "f\($0): x\r\n" }.joined()
        let caller = ScriptedCaller.served()
        let time = ProcessorTime.measure {
            caller.sends("GET / HTTP/1.1\r\nHost: a\r\nConnection: \(names)\r\n\(fields)\r\n")
        }
        #expect(caller.saw.last == "idle")
        #expect(time < .seconds(5))
    }
}

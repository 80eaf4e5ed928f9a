import Bytes
import Testing

@testable import Telemetry

@Suite struct JSONWriterTests {
    @Test func `items can stand on lines of their own`() {
        let json = text { queue in
            var json = JSONWriter(to: queue)
            json.beginArray("calls")
            json.item(json: Array("1".utf8).span, onNewLine: true)
            json.beginItem(onNewLine: true)
            json.field("a", string: "\"b\"")
            json.endObject()
            json.endArray()
            json.end()
        }
        #expect(json == "{\"calls\":[\n1,\n{\"a\":\"\\\"b\\\"\"}]}\n")
    }

    @Test func `an array may be empty, and items may stand on one line`() {
        let json = text { queue in
            var json = JSONWriter(to: queue)
            json.beginArray("none")
            json.endArray()
            json.beginArray("two")
            json.item(json: Array("1".utf8).span)
            json.item(json: Array("2".utf8).span)
            json.endArray()
            json.field("raw") { $0.append("[]") }
            json.end()
        }
        #expect(json == #"{"none":[],"two":[1,2],"raw":[]}"# + "\n")
    }
}

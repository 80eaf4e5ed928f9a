import Testing

@testable import Proxy

/// What receivers do not accept of a request.
@Suite struct PartialSuccessTests {
    private func read(_ bytes: [UInt8]) -> (Int, String) {
        let partial = PartialSuccess(bytes, isJSON: false)
        return (partial.rejected, partial.message)
    }

    private func read(_ text: String) -> (Int, String) {
        let partial = PartialSuccess(Array(text.utf8), isJSON: true)
        return (partial.rejected, partial.message)
    }

    @Test func `Protobuf`() {
        #expect(read([]) == (0, ""))
        #expect(read([0x0a, 0]) == (0, ""))
        #expect(read([0x0a, 3, 0x08, 0xac, 0x02]) == (300, ""))
        #expect(read([0x0a, 7, 0x12, 3] + Array("old".utf8) + [0x08, 1]) == (1, "old"))
        // A field that is not known stands before it.
        #expect(read([0x10, 5, 0x0a, 2, 0x08, 4]) == (4, ""))
    }

    @Test func `Protobuf that is cut off or broken is no partial success`() {
        let whole: [UInt8] = [0x0a, 7, 0x12, 3] + Array("old".utf8) + [0x08, 1]
        for count in 0..<whole.count { #expect(read(Array(whole[..<count])).0 == 0) }
        #expect(read([UInt8](repeating: 0xff, count: 40)) == (0, ""))
        #expect(read([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]) == (0, ""))
    }

    @Test func `JSON`() {
        #expect(read("{}") == (0, ""))
        #expect(read("nonsense") == (0, ""))
        #expect(read(#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"old"}}"#) == (3, "old"))
        #expect(read(#"{"partialSuccess":{"rejectedDataPoints":4}}"#) == (4, ""))
        #expect(read(#"{"partialSuccess":[]}"#) == (0, ""))
    }
}

import Documents
import Testing

@testable import Interceptors

/// The parts of which a tape is made.
@Suite struct TapeTests {
    private static let pairs: [(recorded: String, live: String, ignored: [String], place: String?)] = [
        (#"{"a":1,"b":[1,2]}"#, #"{"b":[1,2.0],"a":1}"#, [], nil),
        (#"{"a":1}"#, #"{"a":2}"#, [], "/a"),
        (#"{"a":{"b/c":[1,2]}}"#, #"{"a":{"b/c":[1,3]}}"#, [], "/a/b~1c/1"),
        (#"{"a":1}"#, #"{"a":1,"b":2}"#, [], "/b"),
        (#"{"a":1}"#, #"{"a":1,"b":2}"#, ["/b"], nil),
        (#"{"a":"***"}"#, #"{"a":{"any":"thing"}}"#, [], nil),
        (#"{"a":[1]}"#, #"{"a":[]}"#, [], "/a/0"),
        ("1", "2", [], ""),
    ]

    @Test(arguments: pairs)
    func `the first place that is not as recorded is named`(
        recorded: String,
        live: String,
        ignored: [String],
        place: String?
    ) throws {
        let (recorded, live) = (try JSON.parse(Array(recorded.utf8)), try JSON.parse(Array(live.utf8)))
        let pointers = ignored.compactMap { JSONPointer($0) }
        #expect(TapeMessage.differences(between: recorded, and: live, ignoring: pointers).first == place)
    }
}

import Bytes
import Testing
import Types

/// The names of parameters, and what becomes of a message that they are parts of.
@Suite struct FieldPathTests {
    private static let schema = Schema("f.proto", package: "google.protobuf")
        .message("Timestamp", [Schema.field("seconds", 1, .int64), Schema.field("nanos", 2, .int32)])
        .message("FieldMask", [Schema.field("paths", 1, .string, label: 3)])
        .message("StringValue", [Schema.field("value", 1, .string)])
        .message(
            "M",
            [
                Schema.field("at", 1, .message, type: "google.protobuf.Timestamp"),
                Schema.field("mask", 2, .message, type: "google.protobuf.FieldMask"),
                Schema.field("note", 3, .message, type: "google.protobuf.StringValue"),
                Schema.field("notes", 4, .message, type: "google.protobuf.StringValue", label: 3),
                Schema.field("inner", 5, .message, type: "google.protobuf.M"),
                Schema.field("a", 6, .string, oneof: 0), Schema.field("b", 7, .int32, oneof: 0),
                Schema.field("c", 8, .message, type: "google.protobuf.M", oneof: 0),
                Schema.field("snake_name", 9, .string),
            ],
            oneof: "choice"
        )

    private let types: TypeSet
    private let type: MessageType

    init() throws {
        types = try TypeSet([Schema.set([Self.schema])])
        type = try #require(types.message(named: "google.protobuf.M"))
    }

    @Test(
        arguments: [
            ("at", "at", nil), ("at.seconds", "at.seconds", 1), ("inner.at.nanos", "inner.at.nanos", 2),
            ("mask.paths", "mask.paths", 1), ("note", "note", nil), ("note.value", "note", nil),
            ("inner.note.value", "inner.note", nil), ("snakeName", "snake_name", nil), ("c.c.a", "c.c.a", nil),
            ("note.value.x", nil, nil), ("notes.value", nil, nil), ("at.minutes", nil, nil), ("a.b", nil, nil),
            ("", nil, nil), ("note.", nil, nil),
        ] as [(String, String?, Int?)]
    )
    func `names lead to a field`(_ text: String, _ name: String?, _ stepsToWhole: Int?) {
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let field = type.fieldPath(names)
        #expect(field?.steps.map(\.name).joined(separator: ".") == name)
        #expect(field?.stepsToWhole == stepsToWhole)
    }

    private func merged(_ text: String, _ edits: [(String, String)], fixed: [(String, String)] = []) -> String {
        func changes(_ list: [(String, String)]) -> [MessageEdit] {
            list.map { MessageEdit($0.0.split(separator: ".").map(String.init), json: Array($0.1.utf8)) }
        }
        let (text, output) = (Array(text.utf8), ByteQueue())
        do throws(MessageError) {
            try MessageCodec().appendJSON(
                merging: text.span,
                fixed: changes(fixed),
                edits: changes(edits),
                type,
                types,
                dropsUnknown: false,
                limit: 1 << 16,
                to: output
            )
        } catch {
            return error.description
        }
        return output.readable.string
    }

    private static let problem = "are of one oneof; send one of them"

    @Test(
        arguments: [
            ("", [], "{}"),
            ("", [("at.seconds", "1"), ("at.nanos", "2")], #"{"at":"1970-01-01T00:00:01.000000002Z"}"#),
            (#"{"at":"1970-01-01T00:00:01.5Z"}"#, [("at.seconds", "\"3\"")], #"{"at":"1970-01-01T00:00:03.500Z"}"#),
            ("{}", [("mask.paths", #"["a_b","c"]"#)], #"{"mask":"aB,c"}"#),
            ("{}", [("note", #""x""#)], #"{"note":"x"}"#),
            ("{}", [("a", #""x""#)], #"{"a":"x"}"#),
            ("{}", [("a", #""x""#), ("a", #""y""#)], #"{"a":"y"}"#),
            ("{}", [("c.a", #""x""#), ("c.note", #""y""#)], #"{"c":{"note":"y","a":"x"}}"#),
            (#"{"b":1}"#, [("b", "2")], #"{"b":2}"#),
            (#"{"a":null}"#, [("b", "2")], #"{"b":2}"#),
            (#"{"inner":{"a":"x"}}"#, [("b", "2")], #"{"inner":{"a":"x"},"b":2}"#),
            ("{}", [("a", #""x""#), ("b", "0")], "google.protobuf.M: a and b \(problem)"),
            ("{}", [("b", "0"), ("a", #""""#)], "google.protobuf.M: b and a \(problem)"),
            (#"{"b":0}"#, [("a", #""x""#)], "google.protobuf.M: b and a \(problem)"),
            (#"{"a":"x"}"#, [("c.a", #""x""#)], "google.protobuf.M: a and c \(problem)"),
            (#"{"c":{}}"#, [("b", "1")], "google.protobuf.M: c and b \(problem)"),
            ("{}", [("inner.a", #""x""#), ("inner.b", "1")], "google.protobuf.M: a and b \(problem) at /inner"),
            ("{}", [("c.a", #""x""#), ("c.b", "1")], "google.protobuf.M: a and b \(problem) at /c"),
        ] as [(String, [(String, String)], String)]
    )
    func `a message is merged of its parts`(_ text: String, _ edits: [(String, String)], _ result: String) {
        #expect(merged(text, edits) == result)
    }

    @Test(
        arguments: [
            ("{}", [], [("a", #""x""#)], #"{"a":"x"}"#),
            (#"{"a":"x"}"#, [], [("a", #""x""#)], #"{"a":"x"}"#),
            (#"{"a":"y"}"#, [], [("a", #""x""#)], "the body has another value of a than the path"),
            (#"{"b":1}"#, [], [("a", #""x""#)], "google.protobuf.M: b and a \(problem)"),
            ("{}", [("b", "1")], [("a", #""x""#)], "google.protobuf.M: b and a \(problem)"),
            ("{}", [("b", "1")], [("c.a", #""x""#)], "google.protobuf.M: b and c \(problem)"),
            ("{}", [("at.nanos", "5")], [("at.seconds", "1")], #"{"at":"1970-01-01T00:00:01.000000005Z"}"#),
        ] as [(String, [(String, String)], [(String, String)], String)]
    )
    func `a path has the last word`(
        _ text: String,
        _ edits: [(String, String)],
        _ fixed: [(String, String)],
        _ result: String
    ) {
        #expect(merged(text, edits, fixed: fixed) == result)
    }
}

import Configuration
import Documents
import Protocols
import Testing
import Types

@testable import Interceptors
@testable import Proxy

/// Conditions on messages, with and without a type.
@Suite struct TypedConditionTests {
    private static let types = try? TypeSet([DescriptorSet(source: "types.binpb", bytes: TestTypes.bytes)])

    private func conditions(_ yaml: String) -> [JSONCondition] {
        let node = YAML.parse(Array(yaml.utf8), into: Diagnostics())
        return (node?.entries ?? []).compactMap { JSONCondition($0, .request, into: Diagnostics()) }
    }

    private func holds(_ yaml: String, _ message: String, typed: Bool = true) throws -> Bool {
        let json = try JSON.parse(Array(message.utf8))
        let view = typed ? MessageView(json, Self.types?.message(named: "pkg.M"), Self.types) : MessageView(json)
        return conditions(yaml).allSatisfy { $0.holds(for: view) }
    }

    @Test(arguments: [
        ("/count: 0", "{}", true), ("/count: '0'", "{}", true), ("/name: ''", "{}", true),
        ("/isAdmin: false", "{}", true), ("/is_admin: false", "{}", true),
        ("/is_admin: true", #"{"isAdmin":true}"#, true),
        ("/count: {below: 3}", "{}", true), ("/count: {above: 0}", "{}", false), ("/count: {not: 5}", "{}", true),
        ("/count: {not: 0}", "{}", false), ("/name: {length: 0}", "{}", true), ("/name: {regex: '^$'}", "{}", true),
        ("/list: {length: 0}", "{}", true), ("/labels: {length: 0}", "{}", true), ("/list: []", "{}", true),
        ("/count: {any: [0, 7]}", "{}", true), ("/count: 0", #"{"count":"7"}"#, false),
        // Absence is what cannot be told from the default value.
        ("/count: absent", "{}", true), ("/count: present", "{}", false), ("/count: present", #"{"count":"1"}"#, true),
        // Messages have presence.
        ("/inner: absent", "{}", true), ("/inner: {}", "{}", false), ("/inner/count: 0", "{}", false),
        ("/inner/count: absent", "{}", true), ("/inner/count: 0", #"{"inner":{}}"#, true),
        ("/inner/inner/count: 0", #"{"inner":{}}"#, false), ("/list/0/count: 0", #"{"list":[{}]}"#, true),
        ("/list/1/count: 0", #"{"list":[{}]}"#, false), ("/labels/a/name: ''", #"{"labels":{"a":{}}}"#, true),
        ("/labels/b/name: ''", #"{"labels":{"a":{}}}"#, false), ("/list/0: absent", "{}", true),
        // Messages are equal however much of them is written.
        ("/inner: {equals: {count: 3}}", #"{"inner":{"count":"3"}}"#, true),
        ("/inner: {equals: {count: 3, name: ''}}", #"{"inner":{"count":"3"}}"#, true),
        ("/inner: {equals: {count: 3, name: a}}", #"{"inner":{"count":"3"}}"#, false),
        ("/inner: {equals: {count: 3}}", #"{"inner":{"count":"3","name":"a"}}"#, false),
        ("/inner: {contains: {name: ''}}", #"{"inner":{"count":"3"}}"#, true),
        ("'': {contains: {inner: {count: 0}}}", #"{"inner":{}}"#, true),
        ("/list: [{count: 0}, {}]", #"{"list":[{},{"count":"0"}]}"#, true),
        ("/none: absent", "{}", true), ("/none: {not: 1}", "{}", false),
    ])
    func `a field without presence has its default value`(_ yaml: String, _ message: String, _ expected: Bool) throws {
        #expect(try holds(yaml, message) == expected)
    }

    @Test(arguments: [
        ("/count: 0", "{}", false), ("/count: 0", #"{"count":0}"#, true), ("/count: {not: 5}", "{}", false),
        ("/count: present", #"{"count":0}"#, true), ("/count: absent", "{}", true), ("/name: ''", "{}", false),
        ("/list: {length: 0}", "{}", false), ("/list: {length: 0}", #"{"list":[]}"#, true),
        ("/is_admin: true", #"{"isAdmin":true}"#, false),
        ("/inner: {equals: {a: 1, b: 0}}", #"{"inner":{"a":1}}"#, false),
    ])
    func `JSON of no type has what is written`(_ yaml: String, _ message: String, _ expected: Bool) throws {
        #expect(try holds(yaml, message, typed: false) == expected)
    }

    @Test(arguments: [
        // Texts in part at the top alone.
        ("pai", #""paid""#, true), ("''", #""paid""#, true), ("pad", #""paid""#, false),
        ("{state: pai}", #"{"state":"paid"}"#, false), ("{state: paid}", #"{"state":"paid","id":7}"#, true),
        ("[pai]", #"["paid"]"#, false), ("[paid]", #"["new","paid"]"#, true), ("paid", #"["new","paid"]"#, true),
        ("pai", #"["new","paid"]"#, false), ("[paid]", #"[["paid"]]"#, false), ("[[paid]]", #"[["paid"]]"#, true),
        ("[[paid]]", #"[["new","paid"]]"#, true), ("[]", "[1]", true), ("{}", #"{"a":1}"#, true),
        ("{a: {b: 1}}", #"{"a":{"b":1,"c":2}}"#, true), ("{a: {b: x}}", #"{"a":{"b":"xy"}}"#, false),
        ("[{id: 7}]", #"[{"id":6},{"id":7,"n":1}]"#, true), ("{id: 7}", #"[{"id":6},{"id":7,"n":1}]"#, true),
        ("{tags: [a]}", #"{"tags":["b","a"]}"#, true), ("{tags: a}", #"{"tags":["b","a"]}"#, false),
        ("{id: 7}", #"{"id":"7"}"#, true), ("7", "70", false), ("[1, 2]", "[2, 1, 3]", true),
        ("[1, 4]", "[2, 1]", false),
    ])
    func `contains compares what is further down as a whole`(_ part: String, _ message: String, _ expected: Bool) throws
    {
        #expect(try holds("'': {contains: \(part)}", message, typed: false) == expected)
    }

    @Test func `a default value is the value of a template`() throws {
        let view = MessageView(try JSON.parse(Array("{}".utf8)), Self.types?.message(named: "pkg.M"), Self.types)
        let values: KeyValuePairs = [
            "/count": #""0""#, "/name": #""""#, "/is_admin": "false", "/list": "[]", "/labels": "{}",
        ]
        for (place, expected) in values {
            let pointer = try #require(JSONPointer(place))
            #expect(view.value(at: pointer).map { String(decoding: $0.bytes, as: UTF8.self) } == expected)
        }
    }
}

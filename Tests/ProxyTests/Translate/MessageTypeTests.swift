import HTTP2Kit
import Testing

/// Rules that look into messages in JSON, beside messages in Protobuf.
@Suite struct MessageTypeTests {
    /// A message in both codecs: `{"name": "a", "count": "7"}`.
    private static let bodies = ["json": #"{"name":"a","count":"7"}"#, "proto": "\n\u{1}a\u{10}\u{7}"]

    private func configuration(_ interceptors: String, types: Bool = true) -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
        upstreams: {default: {url: "h2c://127.0.0.1:9000"}}
        interceptors: [\(interceptors)]
        \(types ? "types: {files: [\"\(TestTypes.path)\"]}" : "")
        """
    }

    /// Sends a message in gRPC, and returns what the upstream gets of it.
    private func sent(_ rule: String, _ codec: String, _ body: String, types: Bool = true) -> String {
        send(rule, codec, body, types: types) { harness, _ in
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            return upstream.next()
        }
    }

    /// Sends a message that is rejected, and returns what the caller is told.
    private func told(_ rule: String, _ codec: String, _ body: String, types: Bool = true) -> String {
        send(rule, codec, body, types: types) { harness, caller in
            _ = harness.upstream().acceptHTTP2(in: harness)
            return caller.next()
        }
    }

    private func send(
        _ rule: String,
        _ codec: String,
        _ body: String,
        types: Bool,
        _ read: (ProxyHarness, HTTP2Peer) -> String
    ) -> String {
        var result = ""
        runProxy(configuration("{message: {on: request, \(rule)}}", types: types)) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+\(codec)"), .data(1, envelope(body), end: true))
            result = read(harness, caller)
        }
        return result
    }

    private func expect(_ rule: String, _ json: String, _ proto: String) {
        #expect(sent(rule, "json", Self.bodies["json"]!) == "1 DATA/end \(envelope(json))")
        #expect(sent(rule, "proto", Self.bodies["proto"]!) == "1 DATA/end \(envelope(proto))")
    }

    @Test(arguments: [
        ("/name: present", true), ("/name: a", true), ("/name: b", false), ("/count: '7'", true), ("/count: 7", true),
        ("/count: 8", false),
        ("/is_admin: absent", true), ("/inner: absent", true), ("/inner/name: present", false),
        ("/list/0: absent", true), ("/Name: present", false),
    ])
    func `the same message has the same verdict in both codecs`(_ place: String, _ isGood: Bool) {
        for (codec, body) in Self.bodies {
            let rule = "require: {json: {\(place)}}"
            if isGood {
                #expect(sent(rule, codec, body).hasPrefix("1 DATA/end"))
            } else {
                #expect(told(rule, codec, body).contains("grpc-status: 3"))
            }
        }
    }

    @Test func `places get other values`() {
        expect("set: {/name: 'x {method}'}", #"{"name":"x Say","count":"7"}"#, "\n\u{5}x Say\u{10}\u{7}")
        expect("set: {/count: 8}, remove: [/name]", #"{"count":"8"}"#, "\u{10}\u{8}")
        expect(
            "set: {/inner/name: b}",
            #"{"name":"a","count":"7","inner":{"name":"b"}}"#,
            "\n\u{1}a\u{10}\u{7}\u{1a}\u{3}\n\u{1}b"
        )
        expect(
            "set: {/list: [{count: 1}]}",
            #"{"name":"a","count":"7","list":[{"count":"1"}]}"#,
            "\n\u{1}a\u{10}\u{7}\u{22}\u{2}\u{10}\u{1}"
        )
        expect("remove: [/nothing, /inner/name]", Self.bodies["json"]!, Self.bodies["proto"]!)
        expect("replace: {json: {count: 1}}", #"{"count":1}"#, "\u{10}\u{1}")
    }

    @Test(arguments: [
        (#"{"is_admin":true}"#, "remove: [/isAdmin]", "{}"), (#"{"isAdmin":true}"#, "remove: [/is_admin]", "{}"),
        (#"{"is_admin":true,"count":7}"#, "set: {/isAdmin: false}", #"{"count":"7"}"#),
        (#"{"labels":{"a":{"count":1},"b":{}}}"#, "remove: [/labels/b, /labels/c]", #"{"labels":{"a":{"count":"1"}}}"#),
        (
            #"{"labels":{"a":{"count":1}}}"#, "set: {/labels/b: {count: 2}, /labels/a/count: 3}",
            #"{"labels":{"a":{"count":"3"},"b":{"count":"2"}}}"#
        ),
        (
            #"{"labels":{"a":{},"b":{}}}"#, "set: {/labels/*/name: x}",
            #"{"labels":{"a":{"name":"x"},"b":{"name":"x"}}}"#
        ),
        (
            #"{"list":[{"count":1},{"count":2},{"count":3}]}"#, "remove: [/list/1]",
            #"{"list":[{"count":"1"},{"count":"3"}]}"#
        ),
        (
            #"{"list":[{},{}]}"#, "set: {/list/1: {count: 2}}, remove: [/list/5, /inner/list/0]",
            #"{"list":[{},{"count":"2"}]}"#
        ),
        (#"{"list":[{},{}],"name":"a"}"#, "remove: ['/list/*']", #"{"name":"a"}"#),
        (#"{"name":"a","count":1}"#, "set: {/name: null}", #"{"count":"1"}"#),
    ])
    func `places are those of the type, however the sender writes them`(
        _ body: String,
        _ rule: String,
        _ changed: String
    ) {
        #expect(sent(rule, "json", body) == "1 DATA/end \(envelope(changed))")
    }

    @Test(arguments: ["/isAdmin", "/is_admin"])
    func `a rule has the name of a field in JSON or in its definition`(_ place: String) {
        for body in [#"{"is_admin":true}"#, #"{"isAdmin":true}"#] {
            #expect(told("require: {json: {\(place): absent}}", "json", body).contains("grpc-status: 3"))
            #expect(sent("require: {json: {\(place): true}}", "json", body).hasPrefix("1 DATA/end"))
        }
        let log = TemporaryLog()
        runProxy(configuration("{message: {on: request, tee: \(log.path)}}, {redact: {json: \(place)}}")) { harness in
            let caller = harness.http2Caller()
            let body = envelope(#"{"is_admin":true}"#)
            caller.send(.say(1, "application/grpc+json"), .data(1, body, end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            while !upstream.next().contains("/end") {}
        }
        #expect(log.lines[0].hasSuffix(#""payload":"{\"isAdmin\":\"***\"}"}"#))
    }

    @Test func `a message that is not of its type says why`() {
        let text = told("require: {json: {/name: present}}", "json", #"{"nam":"a"}"#)
        #expect(text.contains("message 1 of the request is not valid for its type: pkg.M: no field"))
    }

    @Test func `a field that must be absent has no other name`() {
        let rule = "require: {json: {/isAdmin: absent}}"
        for body in [#"{"isAdmin":true}"#, #"{"is_admin":true}"#, #"{"is_admin":false,"isAdmin":true}"#, #"{"x":1}"#] {
            #expect(told(rule, "json", body).contains("grpc-status: 3"), "\(body)")
        }
        #expect(sent(rule, "json", #"{"is_admin":false}"#).hasPrefix("1 DATA/end"))
    }

    @Test func `a place without a value gets one in JSON of an unknown type`() {
        func changed(_ body: String, _ rule: String) -> String { sent(rule, "json", body, types: false) }
        #expect(changed(#"{"a":null}"#, "set: {/a/b: 1}") == "1 DATA/end \(envelope(#"{"a":{"b":1}}"#))")
        #expect(changed("{}", "set: {'/list/*/b': 1}") == "1 DATA/end \(envelope(#"{"list":{}}"#))")
        #expect(
            changed(#"{"l":[{},{}]}"#, "set: {'/l/*/b': 1}") == "1 DATA/end \(envelope(#"{"l":[{"b":1},{"b":1}]}"#))"
        )
    }

    @Test func `all items of a list can be changed`() {
        let body = "\u{22}\u{3}\n\u{1}a\u{22}\u{3}\n\u{1}b"
        let result = sent("set: {/list/*/name: x}, remove: [/list/1/count]", "proto", body)
        #expect(result == "1 DATA/end \(envelope("\u{22}\u{3}\n\u{1}x\u{22}\u{3}\n\u{1}x"))")
    }

    @Test func `fields that the type does not have survive`() {
        // Field 15 of the message and of the one in it.
        let unknown = "\u{1a}\u{6}\n\u{1}bz\u{1}yz\u{2}hi"
        let result = sent("set: {/name: x, /inner/count: 1}", "proto", unknown)
        for part in ["z\u{2}hi", "z\u{1}y", "\n\u{1}x", "\u{10}\u{1}"] {
            #expect(result.contains(part), "\(Array(result.utf8))")
        }
    }

    @Test(arguments: [
        ("set: {/colour: x}", "pkg.M: no field \"colour\""), ("set: {/count: x}", "is not a value of the type int64"),
        ("set: {/name/a: x}", "a value of the type string can only be changed as a whole"),
        ("require: {json: {/name: present}}", "is not valid for its type"),
    ])
    func `what cannot be done is told`(_ rule: String, _ problem: String) {
        let body = rule.hasPrefix("require") ? "\n\u{9}a" : Self.bodies["proto"]!
        let result = told(rule, "proto", body)
        #expect(result.contains("grpc-status: 3") && result.contains(problem), "\(result)")
    }

    @Test func `a message of an unknown type is not read, and not changed`() {
        let required = told("require: {json: {/name: absent}}", "proto", "\n\u{1}a", types: false)
        #expect(required.contains("has a type that Martlet does not know"), "\(required)")
        let changed = told("remove: [/name]", "proto", "\n\u{1}a", types: false)
        #expect(changed.contains("grpc-status: 12") && changed.contains("does not know the types"), "\(changed)")
        let sized = sent("require: {max: 3}", "proto", "\n\u{1}a", types: false)
        #expect(sized == "1 DATA/end \(envelope("\n\u{1}a"))")
    }

    @Test func `a canned response is in the codec of the caller`() {
        runProxy(configuration("{respond: {json: {name: a, count: 7}}}")) { harness in
            let caller = harness.http2Caller()
            for (stream, codec) in [(1, "json"), (3, "proto")] {
                caller.send(.say(stream, "application/grpc+\(codec)"), .data(stream, envelope(""), end: true))
                caller.expect("\(stream) HEADERS :status: 200 | content-type: application/grpc+\(codec)")
                let body = codec == "json" ? #"{"name":"a","count":7}"# : Self.bodies["proto"]!
                caller.expect("\(stream) DATA \(envelope(body))")
                caller.expect("\(stream) HEADERS/end grpc-status: 0")
            }
        }
    }

    @Test(arguments: ["json", "proto"])
    func `a rule on responses reads both codecs, and replaces in both`(_ codec: String) {
        let rules = "rules: [{when: {json: {/name: a}}, replace: {json: {name: b}}}]"
        runProxy(configuration("{validate: {\(rules)}}")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+\(codec)"), .data(1, envelope(""), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            upstream.send(.response(1, 200, ["content-type": "application/grpc+\(codec)"]))
            upstream.send(.data(1, envelope(Self.bodies[codec]!)), .headers(1, ["grpc-status": "0"], end: true))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 200"))
            caller.expect("1 DATA \(envelope(codec == "json" ? #"{"name":"b"}"# : "\n\u{1}b"))")
            caller.expect("1 HEADERS/end grpc-status: 0")
        }
    }

    @Test(arguments: [false, true])
    func `messages in Protobuf are written down as JSON`(_ isMasked: Bool) {
        let log = TemporaryLog()
        let redact = isMasked ? ", {redact: {json: /name}}" : ""
        runProxy(configuration("{message: {on: request, tee: \(log.path)}}\(redact)")) { harness in
            let caller = harness.http2Caller()
            let messages = envelope(Self.bodies["proto"]!) + envelope("\n\u{9}broken")
            caller.send(.say(1, "application/grpc+proto"), .data(1, messages, end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            while !upstream.next().contains("/end") {}
        }
        let name = isMasked ? "***" : "a"
        #expect(log.lines[0].hasSuffix(#""bytes":5,"payload":"{\"name\":\"\#(name)\",\"count\":\"7\"}"}"#))
        #expect(log.lines[1].hasSuffix(isMasked ? #""payload":null}"# : #""payload":"\n\tbroken"}"#))
    }
}

import HTTP2Kit
import Testing

/// Fields that a translation writes again: statuses, binary values, types and lists.
@Suite struct TranslatedFieldTests {
    private func configuration(_ speaks: String, _ more: String = "") -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
        upstreams: {default: {url: "h2c://127.0.0.1:9000", speaks: \(speaks)\(more)}}
        interceptors: []
        types: {files: ["\(TestTypes.path)"]}
        """
    }

    private func head(_ fields: [(String, String)]) -> Frame {
        Frame(.headers, flags: Frame.Flag.endHeaders, stream: 1, fields.flatMap { HPACK.literal($0.0, $0.1) })
    }

    private static let statuses = ["abc", "99", "17", "", "-1", "05", "00", "1 2", "+0", "1.0", "0x0", "256"]

    @Test(arguments: statuses, ["application/json", "application/connect+json", "application/grpc-web+json"])
    func `a status that is none is unknown, with words`(_ status: String, _ type: String) {
        runProxy(configuration("grpc")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type), .data(1, type == "application/json" ? "{}" : envelope("{}"), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            upstream.send(
                head([(":status", "200"), ("content-type", "application/grpc+json")]),
                .data(1, envelope("[1]")),
                .headers(1, ["grpc-status": status], end: true)
            )
            harness.settle()
            let lines = caller.rest().joined()
            let words = "the upstream sent an invalid response: grpc-status"
            #expect(lines.contains(words), "\(lines)")
            #expect(lines.contains("\"code\":\"unknown\"") || lines.contains("grpc-status: 2\r\n"), "\(lines)")
        }
    }

    @Test(arguments: [
        ("AQ==", "AQ"), ("AQI=", "AQI"), ("AQID", "AQID"), ("AQ==,AQI=", "AQ,AQI"), ("AQ==, AQID", "AQ, AQID"),
        ("", ""),
        ("AQ", "AQ"), ("AQI=,AQ", "AQI,AQ"), ("AQID,AQ==", "AQID,AQ"), ("====", ""),
    ])
    func `binary values lose their padding`(_ value: String, _ expected: String) {
        runProxy(configuration("grpc")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", ("x-a-bin", value), ("x-b", "AQ==")), .data(1, "{}", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let sent = upstream.next()
            #expect(sent.contains("x-a-bin: \(expected) | x-b: AQ=="), "\(sent)")
            _ = upstream.next()
            upstream.send(
                head([(":status", "200"), ("content-type", "application/grpc+json"), ("x-c-bin", value)]),
                .data(1, envelope("[1]")),
                .headers(1, ["grpc-status": "0", "x-d-bin": value, "x-e": "AQ=="], end: true)
            )
            let received = caller.next()
            #expect(received.contains("x-c-bin: \(expected)"), "\(received)")
            #expect(received.contains("trailer-x-d-bin: \(expected) | trailer-x-e: AQ=="), "\(received)")
        }
    }

    @Test(
        arguments: [
            ("application/grpc-web-text", "application/grpc-web+proto", "application/grpc-web+proto"),
            ("application/grpc-web-text+json", "application/grpc-web+json", "application/grpc-web+json"),
        ],
        ["grpc_web", "[grpc_web, connect]", "[connect, grpc_web]"]
    )
    func `text goes as binary to an upstream that does not list it`(
        _ type: (sent: String, received: String, response: String),
        _ speaks: String
    ) {
        runProxy(configuration(speaks)) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type.sent, ("accept", type.sent), ("x-grpc-web", "1")))
            caller.send(.data(1, Style.text(Array(envelope("{}").utf8)), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let head = upstream.next()
            #expect(head.contains("content-type: \(type.received) | "), "\(head)")
            #expect(head.contains("accept: \(type.received)"), "\(head)")
            #expect(head.contains("x-grpc-web: 1"), "\(head)")
            upstream.expect("1 DATA/end \(envelope("{}"))")
            upstream.send(self.head([(":status", "200"), ("content-type", type.response)]))
            let body = envelope("[1]").latin1 + [0x80] + 16.bigEndianBytes + Array("grpc-status: 0\r\n".utf8)
            upstream.send(.data(1, body, end: true))
            harness.settle()
            let lines = caller.rest()
            #expect(lines[0].contains("content-type: application/grpc-web-text"), "\(lines)")
            #expect(lines.joined().contains(Style.text(envelope("[1]").latin1).latin1), "\(lines)")
        }
    }

    @Test(arguments: [
        "[grpc_web, grpc_web_text]", "[grpc_web_text, grpc_web]", "same", "[grpc, grpc_web, grpc_web_text]",
    ])
    func `text passes to an upstream that lists it`(_ speaks: String) {
        runProxy(configuration(speaks)) { harness in
            let caller = harness.http2Caller()
            let text = Style.text(Array(envelope("{}").utf8)).latin1
            caller.send(.say(1, "application/grpc-web-text+json", ("accept", "application/grpc-web-text")))
            caller.send(.data(1, text, end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let head = upstream.next()
            #expect(head.contains("content-type: application/grpc-web-text+json"), "\(head)")
            #expect(head.contains("accept: application/grpc-web-text"), "\(head)")
            upstream.expect("1 DATA/end \(text)")
        }
    }

    @Test(arguments: ["[grpc_web, grpc_web_text]", "grpc_web"])
    func `text with another codec goes as binary`(_ speaks: String) {
        runProxy(configuration(speaks, ", codecs: [proto]")) { harness in
            let caller = harness.http2Caller()
            let text = Style.text(Array(envelope(#"{"name":"a"}"#).utf8)).latin1
            caller.send(.say(1, "application/grpc-web-text+json", ("accept", "application/grpc-web-text+json")))
            caller.send(.data(1, text, end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let head = upstream.next()
            #expect(head.contains("content-type: application/grpc-web+proto"), "\(head)")
            #expect(head.contains("accept: application/grpc-web+proto"), "\(head)")
            upstream.expect("1 DATA/end \(envelope("\n\u{1}a"))")
        }
    }

    @Test(arguments: [
        ("application/json", "*/*", "*/*"), ("application/json", "application/json", "application/grpc+json"),
        ("application/json", "application/json, text/plain, */*", "application/grpc+json"),
        ("application/proto", "application/proto", "application/grpc+proto"),
        ("application/connect+json", "application/connect+json", "application/grpc+json"),
        ("application/grpc-web+json", "application/grpc-web+json", "application/grpc+json"),
        ("application/grpc-web-text", "application/grpc-web-text", "application/grpc+proto"),
        ("application/json", "text/html", "text/html"),
        ("application/json", "application/xml;q=0.9", "application/xml;q=0.9"),
        ("application/grpc-web+proto", "APPLICATION/GRPC-WEB", "application/grpc+proto"),
    ])
    func `a list of types names that of the upstream`(_ type: String, _ accept: String, _ expected: String) {
        runProxy(configuration("grpc")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type, ("accept", accept)))
            if type == "application/json" || type == "application/proto" { caller.send(.data(1, "{}", end: true)) }
            let head = harness.upstream().acceptHTTP2(in: harness).next()
            #expect(head.contains("| accept: \(expected)"), "\(head)")
        }
    }

    @Test(arguments: [
        ("application/connect+foo", ":status: 415"), ("application/connect+FOO", ":status: 415"),
        ("application/connect+json2", ":status: 415"), ("application/grpc+foo", "grpc-status: 2"),
        ("application/grpc-web+foo", ":status: 200"),
    ])
    func `a codec that Martlet has to know and does not is rejected`(_ type: String, _ field: String) {
        runProxy(configuration("grpc", ", codecs: [proto]")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type), .data(1, envelope("{}"), end: true))
            harness.settle()
            let lines = caller.rest().joined()
            #expect(lines.contains(field), "\(lines)")
            #expect(lines.contains("use proto or json"), "\(lines)")
            harness.upstream().expectNobody()
        }
    }

    @Test(
        arguments: [
            ("application/json", "content-encoding", "lzma", "accept-encoding"),
            ("application/json", "content-encoding", "snappy", "accept-encoding"),
            ("application/connect+json", "connect-content-encoding", "lzma", "connect-accept-encoding"),
            ("application/connect+json", "connect-content-encoding", "x-deflate", "connect-accept-encoding"),
            ("application/grpc+json", "grpc-encoding", "lzma", "grpc-accept-encoding"),
            ("application/grpc+json", "grpc-encoding", "snappy", "grpc-accept-encoding"),
            ("application/grpc-web+json", "grpc-encoding", "gzip2", "grpc-accept-encoding"),
        ],
        ["speaks: grpc, codecs: [proto]", "compressions: []"]
    )
    func `an unknown compression of a request gets the list of known ones`(
        _ way: (type: String, field: String, name: String, accept: String),
        _ upstream: String
    ) {
        let yaml = configuration("grpc").replacing("speaks: grpc", with: upstream)
        runProxy(yaml) { harness in
            let caller = harness.http2Caller()
            let body = way.type == "application/json" ? "{}" : envelope("{}", flags: 1)
            caller.send(.say(1, way.type, (way.field, way.name)), .data(1, body, end: true))
            _ = harness.upstream().acceptHTTP2(in: harness)
            harness.settle()
            let lines = caller.rest().joined()
            #expect(lines.contains("\(way.accept): gzip,br,zstd,deflate"), "\(lines)")
            #expect(lines.contains("use gzip, br, zstd or deflate"), "\(lines)")
        }
    }
}

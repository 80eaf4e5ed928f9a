import Testing

/// Enveloped messages over HTTP/1.1, through chains that look at them.
@Suite struct HTTP1StreamTests {
    private func gate(_ options: String) -> String {
        plain + "\ninterceptors: [{name: a, gate: {\(options)}}]\n"
    }

    private let type = "content-type: application/connect+json"
    private let chunked = "transfer-encoding: chunked"

    private func chunk(_ text: String) -> String {
        String(text.utf8.count, radix: 16) + "\r\n" + text + "\r\n"
    }

    /// The body of the next chunked message.
    private func body(_ peer: ScriptedPeer) -> String {
        var body = ""
        while true {
            var line = ""
            while !line.hasSuffix("\r\n"), let byte = peer.receive(1).first { line += [byte].latin1Text }
            guard let count = Int(line.prefix { $0 != "\r\n" }, radix: 16), count > 0 else { break }
            body += peer.receive(count).latin1Text
            _ = peer.receive(2)
        }
        _ = peer.receive(2)
        return body
    }

    @Test(arguments: Transport.allCases)
    func `messages are changed and added both ways, and the connections go on`(_ transport: Transport) {
        runProxy(transport, gate("upper: true, add: {request message 1: x, response message 1: y}")) { harness in
            let (caller, end) = (harness.caller(), envelope("{}", flags: 2))
            var upstream: ScriptedPeer?
            for _ in 0..<2 {
                let sent = envelope("hello")
                let length = "content-length: \(sent.utf8.count)"
                caller.send(http("POST /pkg.Service/Say HTTP/1.1", "host: a", type, length, body: sent))
                let peer = upstream ?? harness.upstream().accept()
                upstream = peer
                #expect(peer.head() == http("POST /pkg.Service/Say HTTP/1.1", "host: 127.0.0.1:9000", type, chunked))
                #expect(body(peer) == envelope("HELLO") + envelope("x"))
                let response = envelope("hi") + end
                peer.send(http("HTTP/1.1 200 OK", type, "content-length: \(response.utf8.count)", body: response))
                #expect(caller.head() == http("HTTP/1.1 200 OK", type, chunked))
                #expect(body(caller) == envelope("HI") + envelope("y") + end)
            }
        }
    }

    @Test(arguments: Transport.allCases)
    func `trailers of a request come behind what is held`(_ transport: Transport) {
        runProxy(transport, gate("hold: [request head]")) { harness in
            let caller = harness.caller()
            caller.send(http("POST /pkg.Service/Say HTTP/1.1", "host: a", type, chunked, "trailer: x-t"))
            caller.send(chunk(envelope("hello")) + "0\r\nx-t: 1\r\n\r\n")
            harness.settle()
            harness.gates["a"].release()
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.expect(chunk(envelope("hello")) + "0\r\nx-t: 1\r\n\r\n")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a rejection behind a message ends the body, and the connection goes on`(_ transport: Transport) {
        runProxy(transport, gate("reject: {response message 2: aborted}, sees: [response message]")) { harness in
            let caller = harness.caller()
            caller.send(http("POST /pkg.Service/Say HTTP/1.1", "host: a", type, "content-length: 0"))
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.send(http("HTTP/1.1 200 OK", type, chunked, body: chunk(envelope("1") + envelope("2"))))
            _ = caller.head()
            let body = body(caller)
            #expect(body.hasPrefix(envelope("1") + "\u{2}\0\0\0"))
            #expect(body.contains(#"{"error":{"code":"aborted","message":"no""#))
            caller.send(say)
            harness.upstream().accept().expect(saidUpstream)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a held response is read no further, and goes on on release`(_ transport: Transport) {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", limits: {held_bytes: 16KiB}}]
            upstream: http://127.0.0.1:9000
            interceptors: [{name: a, gate: {hold: [response head], sees: [response head]}}]
            """
        runProxy(transport, yaml) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            let count = 8 << 20
            upstream.send(http("HTTP/1.1 200 OK", "content-length: \(count)"))
            upstream.send([UInt8](repeating: 0x61, count: count))
            caller.expectNothing()
            if transport == .memory { #expect(upstream.unsentBytes > count - (1 << 20)) }
            harness.gates["a"].release()
            #expect(caller.head() == http("HTTP/1.1 200 OK", "content-length: \(count)"))
            #expect(caller.receive(count).count == count)
        }
    }
}

extension [UInt8] {
    /// One character for each byte.
    fileprivate var latin1Text: String { String(String.UnicodeScalarView(map { Unicode.Scalar($0) })) }
}

import Testing

@testable import Proxy

/// Callers' connections: limits, time-outs, the drain, and what is counted of them.
@Suite struct ConnectionTests {
    private static func listener(_ options: String) -> String {
        """
        listeners: [{address: "127.0.0.1:8080", \(options)}]
        upstream: http://127.0.0.1:9000
        """
    }

    private static func refusal(_ status: String, _ code: String, _ message: String) -> String {
        let body = "{\"code\":\"\(code)\",\"message\":\"\(message)\"}"
        let head = "HTTP/1.1 \(status)\r\ncontent-type: application/json\r\nconnection: close\r\n"
        return head + "content-length: \(body.utf8.count)\r\n\r\n" + body
    }

    private func limitHits(_ scene: Scene, _ limit: String) -> String? {
        scene.metrics("martlet_limit_hits_total{limit=\"\(limit)\"}").first.map {
            String($0.split(separator: " ").last!)
        }
    }

    @Test(arguments: Stage.allCases)
    func `one connection too many is refused, and there is room when one has gone`(_ stage: Stage) {
        play(stage, Self.listener("limits: {connections: 1}")) { scene in
            let first = scene.caller()
            scene.settle()
            let second = scene.caller()
            second.expect(
                Self.refusal("503 Service Unavailable", "resource_exhausted", "limits.connections is reached")
            )
            second.expectEnd()
            #expect(limitHits(scene, "connections") == "1")
            #expect(scene.metrics("martlet_connections{") == [#"martlet_connections{listener="127.0.0.1:8080"} 1"#])
            first.close()
            scene.settle()
            #expect(scene.metrics("martlet_connections{") == [#"martlet_connections{listener="127.0.0.1:8080"} 0"#])
            let third = scene.caller()
            third.send(get)
            scene.upstream().accept().expect(gotUpstream)
            let total = #"martlet_connections_total{listener="127.0.0.1:8080"} 2"#
            #expect(scene.metrics("martlet_connections_total{") == [total])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the rest of a request that was answered early has the time of a head`(_ stage: Stage) {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", timeouts: {head: 10s}}]
            interceptors: [{reject: {code: not_found}}]
            """
        play(stage, yaml) { scene in
            let caller = scene.caller()
            caller.send(http("POST / HTTP/1.1", "host: a", "content-length: 100"))
            _ = caller.head()
            scene.pass(.seconds(9))
            caller.send("slow")
            scene.pass(.seconds(2))
            caller.expectGone()
        }
    }

    @Test(arguments: Stage.allCases)
    func `a head has its time from its first byte`(_ stage: Stage) {
        play(stage, Self.listener("timeouts: {head: 10s}")) { scene in
            let caller = scene.caller()
            scene.pass(.seconds(60))
            caller.send("GET / HTTP/1.1\r\nho")
            scene.pass(.seconds(9))
            caller.send("st: a\r\n")
            caller.expectNothing()
            scene.pass(.milliseconds(1100))
            let text = "the head did not arrive within timeouts.head"
            caller.expect(Self.refusal("408 Request Timeout", "deadline_exceeded", text))
            caller.expectEnd()
            #expect(limitHits(scene, "head_timeout") == "1")
        }
    }

    @Test(arguments: Stage.allCases)
    func `a head that begins right behind a request has its time too`(_ stage: Stage) {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", timeouts: {head: 10s}}]
            interceptors: [{respond: {status: 204}}]
            """
        play(stage, yaml) { scene in
            let caller = scene.caller()
            caller.send("GET / HTTP/1.1\r\nho")
            scene.settle()
            caller.send("st: a\r\n\r\nGET / HT")
            caller.expect(http("HTTP/1.1 204 No Content"))
            scene.pass(.seconds(11))
            let text = "the head did not arrive within timeouts.head"
            caller.expect(Self.refusal("408 Request Timeout", "deadline_exceeded", text))
            caller.expectEnd()
        }
    }

    @Test(arguments: Stage.allCases)
    func `an idle connection is closed in time, one with a call is not`(_ stage: Stage) {
        play(stage, Self.listener("timeouts: {idle: 60s}")) { scene in
            let (idle, busy) = (scene.caller(), scene.caller())
            busy.send(get)
            let upstream = scene.upstream().accept()
            upstream.expect(gotUpstream)
            scene.pass(.seconds(59))
            idle.expectNothing()
            scene.pass(.seconds(2))
            idle.expectEnd()
            scene.pass(.seconds(3600))
            upstream.send(fine)
            busy.expect(fine)
            scene.pass(.seconds(59))
            busy.expectNothing()
            scene.pass(.seconds(2))
            busy.expectEnd()
        }
    }

    /// A caller that takes ten bytes of its response; its connection has been idle for too long, and was to be closed 29 s ago.
    private func withUnreadResponse(_ body: (Scene, ScriptedPeer) -> Void) {
        play(.memory, Self.listener("timeouts: {idle: 60s, stalled: 30s}")) { scene in
            let caller = scene.caller()
            caller.stopReading(room: 10)
            caller.send(get)
            scene.upstream().accept().send(fine)
            scene.pass(.seconds(61))
            scene.pass(.seconds(29))
            body(scene, caller)
        }
    }

    @Test func `a caller that does not read its last response is not waited for`() {
        withUnreadResponse { scene, _ in
            #expect(scene.metrics("martlet_connections{") == [#"martlet_connections{listener="127.0.0.1:8080"} 1"#])
            scene.pass(.seconds(2))
            #expect(scene.metrics("martlet_connections{") == [#"martlet_connections{listener="127.0.0.1:8080"} 0"#])
            #expect(limitHits(scene, "stalled") == "1")
        }
    }

    @Test func `a caller that reads its last response slowly gets it whole`() {
        withUnreadResponse { scene, caller in
            caller.startReading()
            caller.expect(fine)
            caller.expectEnd()
            #expect(limitHits(scene, "stalled") == "0")
        }
    }

    @Test(arguments: Stage.allCases)
    func `a head that is too large or has too many fields is refused`(_ stage: Stage) {
        play(stage, Self.listener("limits: {head: 1KiB, fields: 3}")) { scene in
            let large = scene.caller()
            large.send("GET / HTTP/1.1\r\nhost: a\r\nx-a: " + String(repeating: "a", count: 2000))
            let status = "431 Request Header Fields Too Large"
            large.expect(Self.refusal(status, "resource_exhausted", "the head is larger than limits.head"))
            let many = scene.caller()
            many.send(http("GET / HTTP/1.1", "host: a", "x-a: 1", "x-b: 1", "x-c: 1", "x-d: 1"))
            many.expect(Self.refusal(status, "resource_exhausted", "the head has more fields than limits.fields"))
            #expect(limitHits(scene, "head") == "1")
            #expect(limitHits(scene, "fields") == "1")
            #expect(
                scene.metrics("martlet_bad_requests_total") == [
                    #"martlet_bad_requests_total{reason="head_too_large"} 1"#,
                    #"martlet_bad_requests_total{reason="too_many_fields"} 1"#,
                ]
            )
        }
    }

    @Test(arguments: Stage.allCases)
    func `a caller who stops in the middle of a head is gone at once`(_ stage: Stage) {
        play(stage, plain) { scene in
            let caller = scene.caller()
            caller.send("GET / HT")
            scene.settle()
            caller.close()
            scene.settle()
            #expect(scene.worker.connectionCount == 0)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a connection that is to close waits a little for its caller, and no longer`(_ stage: Stage) {
        play(stage, "listen: 127.0.0.1:8080\ninterceptors: [{respond: {body: ok}}]\n") { scene in
            let caller = scene.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "connection: close", "content-length: 1000000"))
            caller.expect(http("HTTP/1.1 200 OK", "connection: close", "content-length: 2", body: "ok"))
            caller.expectEnd()
            caller.send(String(repeating: "a", count: 10_000))
            scene.settle()
            #expect(scene.worker.connectionCount == 1)
            scene.pass(.milliseconds(2100))
            #expect(scene.worker.connectionCount == 0)
        }
    }

    @Test(arguments: Stage.allCases)
    func `a drain closes what is idle, and takes no new connections`(_ stage: Stage) {
        play(stage, plain) { scene in
            let (idle, reading) = (scene.caller(), scene.caller())
            scene.pass(.seconds(2))
            reading.send("GET /p HTTP/1.1\r\n")
            scene.settle()
            scene.worker.drain()
            idle.expectEnd()
            reading.send("host: a\r\n\r\n")
            let upstream = scene.upstream().accept()
            upstream.expect(http("GET /p HTTP/1.1", "host: 127.0.0.1:9000"))
            upstream.send(fine)
            let head = ["HTTP/1.1 200 OK", "content-type: application/json", "connection: close", "content-length: 2"]
            reading.expect(head.joined(separator: "\r\n") + "\r\n\r\n{}")
            reading.expectEnd()
            reading.close()
            scene.settle()
            #expect(scene.worker.connectionCount == 0)
        }
    }

    @Test func `a drain takes everybody who has connected before it`() {
        play(.sockets, "listen: 127.0.0.1:8080\ninterceptors: [{respond: {body: ok}}]\n") { scene in
            scene.stopTelling()
            let callers = (0..<70).map { _ in scene.caller() }
            for caller in callers { caller.send(get) }
            scene.worker.drain()
            scene.startTelling()
            for caller in callers {
                #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
                caller.expect("ok")
                caller.expectEnd()
            }
        }
    }

    @Test(arguments: Stage.allCases)
    func `a caller that has just connected has a second for its first request`(_ stage: Stage) {
        play(stage, Self.responding) { scene in
            let (quick, slow) = (scene.caller(), scene.caller())
            scene.pass(.milliseconds(900))
            scene.worker.drain()
            slow.expectNothing()
            quick.send(get)
            #expect(quick.head().contains("\r\nconnection: close\r\n"))
            quick.expect("ok")
            quick.expectEnd()
            scene.pass(.milliseconds(200))
            slow.expectEnd()
        }
    }

    @Test(arguments: Stage.allCases)
    func `a close that is announced comes after one more call on each connection, also on new ones`(_ stage: Stage) {
        play(stage, Self.responding) { scene in
            let (used, unused) = (scene.caller(), scene.caller())
            used.send(get)
            used.expect(http("HTTP/1.1 200 OK", "content-length: 2", body: "ok"))
            scene.worker.announceClose(held: [])
            scene.pass(.seconds(60))
            for caller in [used, unused, scene.caller()] {
                caller.expectNothing()
                caller.send(get)
                #expect(caller.head().contains("\r\nconnection: close\r\n"))
                caller.expect("ok")
                caller.expectEnd()
            }
        }
    }

    @Test(arguments: Stage.allCases)
    func `a stop waits for calls of held listeners that began before it, and not for later ones`(_ stage: Stage) {
        play(stage, plain) { scene in
            let (old, idle) = (scene.caller(), scene.caller())
            old.send(get)
            let upstream = scene.upstream().accept()
            upstream.expect(gotUpstream)
            scene.worker.announceClose(held: ["127.0.0.1:8080"])
            scene.worker.stopListening(except: ["127.0.0.1:8080"])
            #expect(scene.worker.leavingCount == 1)
            idle.send(get)
            let other = scene.upstream().accept()
            other.expect(gotUpstream)
            #expect((scene.worker.leavingCount, scene.worker.connectionCount) == (1, 2))
            upstream.send(fine)
            #expect(old.head().contains("\r\nconnection: close\r\n"))
            old.expect("{}")
            old.expectEnd()
            #expect(scene.worker.leavingCount == 0)
            other.send(fine)
            #expect(idle.head().contains("\r\nconnection: close\r\n"))
        }
    }

    @Test(arguments: Stage.allCases)
    func `calls that began before a stop can be cut off, and later ones go on`(_ stage: Stage) {
        play(stage, plain) { scene in
            let (old, new) = (scene.caller(), scene.caller())
            old.send(get)
            scene.upstream().accept().expect(gotUpstream)
            scene.worker.announceClose(held: ["127.0.0.1:8080"])
            new.send(get)
            let upstream = scene.upstream().accept()
            upstream.expect(gotUpstream)
            scene.worker.abandonLeaving()
            #expect(old.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            upstream.send(fine)
            #expect(new.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    private static let responding = "listen: 127.0.0.1:8080\ninterceptors: [{respond: {body: ok}}]\n"

    @Test(arguments: Stage.allCases)
    func `a pipelined request that waited when the drain began is not taken`(_ stage: Stage) {
        play(stage, plain) { scene in
            let caller = scene.caller()
            caller.send(get + say)
            let upstream = scene.upstream().accept()
            upstream.expect(gotUpstream)
            scene.worker.drain()
            upstream.send(fine)
            #expect(caller.head().contains("\r\nconnection: close\r\n"))
            caller.expect("{}")
            caller.expectEnd()
            upstream.expectNothing()
        }
    }
}

import Testing

@testable import Proxy

/// Every way in which a call can end is told to its chain exactly once.
@Suite struct EndingTests {
    private static let probed = plain + "\ninterceptors: [{metrics: {}}, {probe: {}}]\n"

    private static func limited(_ timeouts: String) -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "http://127.0.0.1:9000", timeouts: {\(timeouts)}}}
        interceptors: [{metrics: {}}, {probe: {}}]
        """
    }

    private func ends(_ scene: Scene) -> [String] {
        scene.settle()
        return scene.diary.take().filter { $0.contains("finished") }
    }

    private func attempts(_ scene: Scene) -> [String] {
        scene.metrics("martlet_upstream_attempts_total").filter { !$0.hasSuffix(" 0") }.map { line in
            String(line.split(separator: "result=").last!.filter { $0 != "\"" && $0 != "}" })
        }
    }

    /// A call that has come to the upstream.
    private func begin(_ scene: Scene, _ request: String = say) -> (ScriptedPeer, ScriptedPeer) {
        let caller = scene.caller()
        caller.send(request)
        let upstream = scene.upstream().accept()
        _ = upstream.head()
        return (caller, upstream)
    }

    @Test(arguments: Stage.allCases)
    func `responded`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene)
            upstream.send(fine)
            caller.expect(
                http(
                    "HTTP/1.1 200 OK",
                    "content-type: application/json",
                    "x-trace: probe",
                    "content-length: 2",
                    body: "{}"
                )
            )
            #expect(ends(scene) == ["probe finished ok by upstream"])
            #expect(attempts(scene) == ["ok 1"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the caller goes before there is a connection`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            scene.upstream().behaviour = .hangs
            let caller = scene.caller()
            caller.send(get)
            scene.settle()
            caller.close()
            #expect(ends(scene) == ["probe finished canceled by caller"])
            #expect(attempts(scene) == ["canceled 1"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the caller goes while the upstream works`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene)
            caller.close()
            upstream.expectGone()
            #expect(ends(scene) == ["probe finished canceled by caller"])
            #expect(attempts(scene) == ["canceled 1"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the caller breaks off in the middle of the response`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene)
            upstream.send(http("HTTP/1.1 200 OK", "content-type: application/json", "content-length: 9", body: "{"))
            _ = caller.head()
            caller.reset()
            upstream.expectGone()
            #expect(ends(scene) == ["probe finished canceled by caller"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the caller goes in the middle of its request`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene, http("POST /p HTTP/1.1", "host: a", "content-length: 9", body: "{"))
            caller.close()
            upstream.expectGone()
            #expect(ends(scene) == ["probe finished canceled by caller"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the caller goes when all is over`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene)
            upstream.send(fine)
            _ = caller.head()
            caller.close()
            #expect(ends(scene) == ["probe finished ok by upstream"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the body of the request is malformed`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene, http("POST /p HTTP/1.1", "host: a", "transfer-encoding: chunked"))
            caller.send("zz\r\n")
            #expect(caller.head().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            upstream.expectGone()
            #expect(ends(scene) == ["probe finished invalid_argument by martlet"])
            #expect(attempts(scene) == ["canceled 1"])
            #expect(
                scene.metrics("martlet_bad_requests_total") == [#"martlet_bad_requests_total{reason="chunk_size"} 1"#]
            )
        }
    }

    @Test(arguments: Stage.allCases)
    func `the upstream refuses the connection`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            scene.upstream().behaviour = .refuses
            let caller = scene.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(ends(scene) == ["probe finished unavailable by martlet"])
            #expect(attempts(scene) == ["connect_failed 1"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the upstream cannot be reached`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            scene.upstream().behaviour = .isUnreachable
            let caller = scene.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(ends(scene) == ["probe finished unavailable by martlet"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the upstream does not let the connection be made`(_ stage: Stage) {
        play(stage, Self.limited("connect: 2s")) { scene in
            scene.upstream().behaviour = .hangs
            let caller = scene.caller()
            caller.send(say)
            scene.pass(.milliseconds(1900))
            caller.expectNothing()
            scene.pass(.milliseconds(200))
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(ends(scene) == ["probe finished unavailable by martlet"])
            #expect(attempts(scene) == ["connect_timeout 1"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the upstream closes before it responds`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene)
            upstream.close()
            #expect(caller.head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            #expect(ends(scene) == ["probe finished unavailable by martlet"])
            #expect(attempts(scene) == ["reset 1"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the upstream closes in the middle of a head`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene)
            upstream.expect("{}")
            upstream.send("HTTP/1.1 200 OK\r\nconte")
            scene.settle()
            upstream.close()
            #expect(caller.head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            #expect(ends(scene) == ["probe finished unavailable by martlet"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the upstream breaks off`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene)
            upstream.reset()
            #expect(caller.head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            #expect(ends(scene) == ["probe finished unavailable by martlet"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the upstream closes in the middle of the response`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene)
            upstream.expect("{}")
            upstream.send(http("HTTP/1.1 200 OK", "content-type: application/json", "content-length: 9", body: "{"))
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
            upstream.close()
            caller.expectGone()
            #expect(ends(scene) == ["probe finished unavailable by martlet"])
            #expect(attempts(scene) == ["reset 1"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the upstream sends garbage`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene)
            upstream.send("SSH-2.0-OpenSSH_9.2\r\n")
            #expect(caller.head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            upstream.expectGone()
            #expect(ends(scene) == ["probe finished unavailable by martlet"])
            #expect(attempts(scene) == ["bad_response 1"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the upstream sends garbage in the middle of the response`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let (caller, upstream) = begin(scene)
            upstream.send(http("HTTP/1.1 200 OK", "transfer-encoding: chunked", body: "1\r\na\r\n"))
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
            upstream.send("nonsense\r\n")
            caller.expectGone()
            #expect(ends(scene) == ["probe finished unavailable by martlet"])
            #expect(attempts(scene) == ["bad_response 1"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the first byte of the response does not come in time`(_ stage: Stage) {
        play(stage, Self.limited("first_byte: 5s")) { scene in
            let (caller, upstream) = begin(scene)
            scene.pass(.milliseconds(4900))
            caller.expectNothing()
            scene.pass(.milliseconds(200))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"))
            upstream.expectGone()
            #expect(ends(scene) == ["probe finished deadline_exceeded by martlet"])
            #expect(attempts(scene) == ["timeout 1"])
        }
    }

    @Test func `the first byte does not come in time after an interim response to half a request`() {
        play(Self.limited("first_byte: 5s")) { scene in
            let (caller, upstream) = begin(scene, http("POST /p HTTP/1.1", "host: a", "content-length: 2"))
            upstream.send(http("HTTP/1.1 100 Continue"))
            _ = caller.head()
            caller.send("{}")
            scene.pass(.milliseconds(5100))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"))
        }
    }

    @Test(arguments: Stage.allCases)
    func `the response is not complete in time`(_ stage: Stage) {
        play(stage, Self.limited("call: 5s, first_byte: 1s")) { scene in
            let (caller, upstream) = begin(scene)
            upstream.send(http("HTTP/1.1 200 OK", "transfer-encoding: chunked", body: "1\r\na\r\n"))
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
            scene.pass(.milliseconds(5100))
            caller.expectGone()
            upstream.expectGone()
            #expect(ends(scene) == ["probe finished deadline_exceeded by martlet"])
            #expect(attempts(scene) == ["timeout 1"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `the time of the call is over before there is a connection`(_ stage: Stage) {
        play(stage, Self.limited("call: 5s, connect: none")) { scene in
            scene.upstream().behaviour = .hangs
            let caller = scene.caller()
            caller.send(say)
            scene.pass(.milliseconds(5100))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"))
            #expect(ends(scene) == ["probe finished deadline_exceeded by martlet"])
            scene.upstream().admit()
            scene.upstream().accept().expectNothing()
        }
    }

    @Test func `an interceptor rejects the response`() {
        play(plain + "\ninterceptors: [{metrics: {}}, {probe: {response: reject}}]\n") { scene in
            let (_, upstream) = begin(scene)
            upstream.expect("{}")
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 9"))
            upstream.expectGone()
            #expect(ends(scene) == [#"probe finished permission_denied by interceptor("probe")"#])
            #expect(attempts(scene) == ["canceled 1"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `drained`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let idle = scene.caller()
            scene.pass(.seconds(2))
            let (caller, upstream) = begin(scene)
            scene.worker.drain()
            idle.expectEnd()
            upstream.send(fine)
            #expect(caller.head().contains("\r\nconnection: close\r\n"))
            caller.expect("{}")
            caller.expectEnd()
            #expect(ends(scene) == ["probe finished ok by upstream"])
        }
    }

    @Test(arguments: Stage.allCases)
    func `a request that has come is answered although the drain has begun`(_ stage: Stage) {
        play(stage, Self.probed) { scene in
            let caller = scene.caller()
            scene.stopTelling()
            caller.send(say)
            scene.worker.drain()
            scene.startTelling()
            let upstream = scene.upstream().accept()
            _ = upstream.head()
            upstream.send(fine)
            #expect(caller.head().contains("\r\nconnection: close\r\n"))
        }
    }
}

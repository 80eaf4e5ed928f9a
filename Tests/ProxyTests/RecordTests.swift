import Events
import Testing
import Time

@testable import Proxy

/// What is counted and logged of calls.
@Suite struct RecordTests {
    private static let counted = plain + "\ninterceptors: [{metrics: {methods: 1}}]\n"

    private func call(_ harness: ProxyHarness, _ path: String, type: String? = nil, response: String = fine) {
        let caller = harness.caller()
        let content = type.map { ["content-type: \($0)"] } ?? []
        caller.send(
            (["POST \(path) HTTP/1.1", "host: a"] + content + ["content-length: 0", "", ""]).joined(separator: "\r\n")
        )
        let upstream = harness.upstream().accept()
        _ = upstream.head()
        upstream.send(response)
        _ = caller.head()
        upstream.close()
        caller.close()
        harness.settle()
    }

    @Test func `a call that failed is kept, however many go well behind it`() {
        runProxy(plain + "\ninterceptors: [{when: {path: /no}, reject: {code: aborted}}]\n") { harness in
            let caller = harness.caller()
            let rejected = harness.caller()
            rejected.send(http("GET /no HTTP/1.1", "host: a"))
            _ = rejected.head()
            caller.send(get)
            let upstream = harness.upstream().accept()
            for number in 1...16 * 70 {
                if number > 1 { caller.send(get) }
                _ = upstream.head()
                upstream.send(fine)
                caller.expect(fine)
                harness.clock.now += .milliseconds(20)
            }
            let kept = harness.worker.recent.all.map { String(decoding: $0.text, as: UTF8.self) }
            #expect(kept.count { $0.contains(#""code":"aborted""#) } == 1)
            #expect(kept.count { $0.contains(#""code":"ok""#) } == 16)
        }
    }

    @Test func `a method is counted by name once a response has shown that it exists`() {
        runProxy(Self.counted) { harness in
            let unknown = http("HTTP/1.1 404 Not Found", "content-length: 0")
            call(harness, "/made.Up/Name", type: "application/json", response: unknown)
            call(harness, "/pkg.Service/Say", type: "application/json")
            call(harness, "/pkg.Service/Say", type: "application/json")
            call(harness, "/pkg.Service/Late", type: "application/json")
            let labels = { (service: String, method: String) in
                #"protocol="connect",rpc_service="\#(service)",rpc_method="\#(method)""#
            }
            let started = harness.metrics("martlet_rpc_started_total")
            #expect(started.contains("martlet_rpc_started_total{\(labels("pkg.Service", "Say"))} 2"))
            #expect(started.contains("martlet_rpc_started_total{\(labels("", "_OTHER"))} 2"))
            #expect(started.count == 2)
            let handled = harness.metrics("martlet_rpc_handled_total")
            let route = #"route="0","#
            #expect(
                handled.contains("martlet_rpc_handled_total{\(route)\(labels("pkg.Service", "Say")),code=\"ok\"} 2")
            )
            let other = labels("", "_OTHER")
            #expect(handled.contains("martlet_rpc_handled_total{\(route)\(other),code=\"unimplemented\"} 1"))
            #expect(handled.contains("martlet_rpc_handled_total{\(route)\(other),code=\"ok\"} 1"))
        }
    }

    @Test(arguments: [("", "_OTHER"), ("when: {service: made.Up}, ", "Name")])
    func `a method that is answered here counts by name if the file names it`(_ when: String, _ method: String) {
        let yaml = """
            listen: 127.0.0.1:8080
            interceptors: [{metrics: {}}, {\(when)respond: {json: {}}}]
            """
        runProxy(yaml) { harness in
            let caller = harness.caller()
            caller.send(
                http("POST /made.Up/Name HTTP/1.1", "host: a", "content-type: application/json", "content-length: 2")
            )
            caller.send("{}")
            _ = caller.head()
            let handled = harness.metrics("martlet_rpc_handled_total")
            #expect(handled.count == 1)
            #expect(handled[0].contains("rpc_method=\"\(method)\""))
        }
    }

    @Test func `calls are in flight until they end, and their time is that of the clock`() {
        runProxy(Self.counted) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            #expect(harness.metrics("martlet_rpc_in_flight") == ["martlet_rpc_in_flight 1"])
            harness.pass(.milliseconds(1500))
            upstream.send(fine)
            caller.expect(fine)
            #expect(harness.metrics("martlet_rpc_in_flight") == ["martlet_rpc_in_flight 0"])
            #expect(harness.metrics("martlet_rpc_duration_seconds_sum").first?.hasSuffix(" 1.5") == true)
        }
    }

    @Test func `plain HTTP is counted without its paths`() {
        runProxy(Self.counted) { harness in
            call(harness, "/index.html", response: http("HTTP/1.1 200 OK", "content-length: 0"))
            let labels = #"protocol="http",rpc_service="",rpc_method="_OTHER""#
            #expect(harness.metrics("martlet_rpc_started_total") == ["martlet_rpc_started_total{\(labels)} 1"])
        }
    }

    // MARK: The log

    /// The lines that a script has left in the log, without their times and ids.
    private func log(_ configuration: String = plain, _ script: (ProxyHarness) -> Void) -> [String] {
        let log = TemporaryLog()
        runProxy(configuration + "\ninterceptors: [{log: {to: \(log.path)}}]\n", script)
        return log.lines.map { line in
            #expect(line.contains(/^\{"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","call":"[0-9a-f]{32}",/))
            return "{" + line.drop { $0 != "," }.dropFirst(1 + 42)
        }
    }

    @Test func `the log has a line for a call that was answered`() {
        let lines = log { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            harness.pass(.milliseconds(20))
            upstream.send(fine)
            caller.expect(fine)
        }
        let expected = #"""
            {"listener":"127.0.0.1:8080","peer":"127.0.0.1:5123","protocol":"connect_unary","service":"pkg.Service",\#
            "method":"Say","http_method":"POST","host":"app","path":"/pkg.Service/Say","route":0,\#
            "upstream":"default","upstream_host":"127.0.0.1:9000","code":"ok","status":200,"request_bytes":2,"response_bytes":2,"duration_ms":20.000,\#
            "stages":{"chain_ms":0.000,"connect_ms":0.000,"first_byte_ms":20.000},"attempts":1,"decided_by":"upstream"}
            """#
        #expect(lines == [expected])
    }

    @Test func `the log says what the upstream said about a error`() {
        let lines = log { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            let error = #"{"code":"not_found","message":"no \"such\" thing"}"#
            let length = "content-length: \(error.utf8.count)"
            upstream.send(http("HTTP/1.1 404 Not Found", "content-type: application/json", length, body: error))
            _ = caller.head()
        }
        #expect(lines.count == 1)
        #expect(lines[0].contains(#""code":"not_found","status":404,"#))
        #expect(lines[0].hasSuffix(#""decided_by":"upstream","message":"no \"such\" thing"}"#))
    }

    @Test func `the log says that nobody took a call, and that a caller has gone`() {
        let lines = log(plain + "\nroutes: [{match: {path: /only}}]") { harness in
            let caller = harness.caller()
            caller.send(http("GET /x HTTP/1.1", "host: a"))
            _ = caller.head()
            let other = harness.caller()
            other.send(http("GET /only HTTP/1.1", "host: a"))
            _ = harness.upstream().accept().head()
            other.close()
        }
        #expect(lines.count == 2)
        #expect(
            lines[0].contains(
                #""route":null,"upstream":null,"upstream_host":null,"code":"unimplemented","status":404,"#
            )
        )
        #expect(lines[0].hasSuffix(#""attempts":0,"decided_by":"martlet","message":"no route for /x"}"#))
        #expect(lines[1].contains(#""code":"canceled","status":0,"#))
        #expect(lines[1].hasSuffix(#""decided_by":"caller"}"#))
    }

    @Test func `a canned response counts as the error that its status reports`() {
        let chain = "[{metrics: {}}, {respond: {status: 503}}]"
        runProxy("listen: 127.0.0.1:8080\ninterceptors: \(chain)\n") { harness in
            let caller = harness.caller()
            caller.send(http("GET /p HTTP/1.1", "host: a"))
            _ = caller.head()
            let handled = harness.metrics("martlet_rpc_handled_total")
            #expect(handled.count == 1)
            #expect(handled[0].contains(#"code="unavailable""#))
        }
    }

    @Test func `the log says which interceptor has decided`() {
        let log = TemporaryLog()
        let chain = "[{log: {to: \(log.path)}}, {name: closed, reject: {code: aborted, message: no}}]"
        runProxy("listen: 127.0.0.1:8080\ninterceptors: \(chain)\n") { harness in
            let caller = harness.caller()
            caller.send(say)
            _ = caller.head()
        }
        #expect(log.lines.count == 1)
        let decided = #""decided_by":"interceptor:closed","message":"no","trace":"#
        let note = #"[{"interceptor":"closed","event":"request_head","verdict":"reject","ms":0.000}]}"#
        #expect(log.lines[0].hasSuffix(decided + note))
    }
}

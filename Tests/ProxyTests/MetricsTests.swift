import Configuration
import Documents
import Interceptors
import Testing
import Time

@testable import Proxy

/// What the metrics tell of routes, upstreams and their pools.
@Suite struct MetricsTests {
    /// Routes in the order given, each to paths below its name, with a chain that counts.
    private func file(_ routes: String..., upstreams: String = #"{default: "http://127.0.0.1:9000"}"#) -> String {
        "listen: 127.0.0.1:8080\nupstreams: \(upstreams)\ninterceptors: [{metrics: {}}]\nroutes:\n"
            + routes.map { "  - {\($0)}\n" }.joined()
    }

    /// A call to a path, over connections of its own.
    private func call(_ harness: ProxyHarness, _ path: String, upstream address: String = "127.0.0.1:9000") {
        let caller = harness.caller()
        caller.send(http("GET \(path) HTTP/1.1", "host: a"))
        let upstream = harness.upstream(address).accept()
        _ = upstream.head()
        upstream.send(fine)
        caller.expect(fine)
        upstream.close()
        caller.close()
        harness.settle()
    }

    private func handled(_ harness: ProxyHarness) -> [String] {
        harness.metrics("martlet_rpc_handled_total").map { line in
            "\(line.split(separator: "\"")[1]) \(line.split(separator: " ").last!)"
        }
    }

    @Test func `a route with a name keeps its series when a reload moves it, and others go by their numbers`() {
        let (users, rest) = ("name: users, match: {path: /users/}", "match: {path: /}")
        runProxy(file(users, "match: {path: /a/}", rest)) { harness in
            call(harness, "/users/1")
            call(harness, "/a/1")
            #expect(handled(harness) == ["1 1", "users 1"])
            harness.use(file("match: {path: /a/}", "name: new, match: {path: /new}", rest, users))
            call(harness, "/a/1")
            call(harness, "/new")
            harness.use(file("match: {path: /a/}", users))
            call(harness, "/users/1")
            #expect(handled(harness) == ["0 1", "1 1", "new 1", "users 2"])
        }
    }

    @Test func `a call under way when its route moves counts for the name`() {
        runProxy(file("name: users, match: {path: /users}")) { harness in
            let caller = harness.caller()
            caller.send(http("GET /users HTTP/1.1", "host: a"))
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            harness.use(file("match: {path: /a}", "name: other, match: {path: /users}", "name: users"))
            upstream.send(fine)
            caller.expect(fine)
            harness.settle()
            #expect(handled(harness) == ["users 1"])
        }
    }

    @Test func `the log has the name of a route, or its number`() {
        let log = TemporaryLog()
        let routes = "routes: [{match: {path: /a}}, {name: users.v1, match: {path: /users}}]\n"
        runProxy(plain + "\ninterceptors: [{log: {to: \(log.path)}}]\n\(routes)") { harness in
            call(harness, "/a")
            call(harness, "/users")
        }
        #expect(log.lines.count == 2)
        #expect(log.lines[0].contains(#","route":0,"#))
        #expect(log.lines[1].contains(#","route":"users.v1","#))
    }

    @Test func `the calls of an upstream are counted by code and timed from when they leave the chain`() {
        runProxy(file("match: {path: /}")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            harness.pass(.microseconds(300))
            upstream.send(http("HTTP/1.1 503 Service Unavailable", "content-length: 0"))
            _ = caller.head()
            let calls = harness.metrics("martlet_upstream_calls_total")
            #expect(calls == [#"martlet_upstream_calls_total{upstream="default",code="unavailable"} 1"#])
            let name = #"martlet_upstream_call_duration_seconds_bucket{upstream="default",le="#
            #expect(harness.metrics(name + "\"0.00025\"").first?.hasSuffix(" 0") == true)
            #expect(harness.metrics(name + "\"0.0005\"").first?.hasSuffix(" 1") == true)
        }
    }

    @Test func `a call that is answered in the chain is none of its upstream`() {
        let chain = "interceptors: [{metrics: {}}, {when: {path: /no}, reject: {code: aborted}}]"
        runProxy(plain + "\n" + chain) { harness in
            let caller = harness.caller()
            caller.send(http("GET /no HTTP/1.1", "host: a"))
            _ = caller.head()
            #expect(harness.metrics("martlet_rpc_handled_total").count == 1)
            #expect(harness.metrics("martlet_upstream_calls_total").isEmpty)
        }
    }

    // MARK: Pools

    private func pools(_ harness: ProxyHarness, _ upstream: String = "default") -> [String] {
        let connections = harness.metrics("martlet_upstream_connections{upstream=\"\(upstream)\"")
        let waiting = harness.metrics("martlet_upstream_waiting{upstream=\"\(upstream)\"")
        return (connections + waiting).map { String($0.split(separator: " ").last!) }
    }

    @Test(arguments: Transport.allCases)
    func `connections with and without a call and calls that wait are shown`(_ transport: Transport) {
        let upstreams = #"{default: {url: "http://127.0.0.1:9000", limits: {connections: 1}}}"#
        runProxy(transport, file("match: {path: /}", upstreams: upstreams)) { harness in
            #expect(pools(harness) == ["0", "0", "0"])
            let callers = (harness.caller(), harness.caller())
            callers.0.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            callers.1.send(get)
            harness.settle()
            #expect(pools(harness) == ["0", "1", "1"])
            upstream.send(fine)
            callers.0.expect(fine)
            upstream.expect(gotUpstream)
            #expect(pools(harness) == ["0", "1", "0"])
            upstream.send(fine)
            callers.1.expect(fine)
            #expect(pools(harness) == ["1", "0", "0"])
            upstream.close()
            harness.settle()
            #expect(pools(harness) == ["0", "0", "0"])
        }
    }

    @Test func `an upstream that a reload removes is not shown any more, even while it has calls`() {
        let both = #"{default: "http://127.0.0.1:9000", other: "http://127.0.0.1:9001"}"#
        runProxy(file("match: {path: /}, upstream: default", upstreams: both)) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            #expect(pools(harness) == ["0", "1", "0"])
            #expect(pools(harness, "other") == ["0", "0", "0"])
            harness.use(file("match: {path: /}", upstreams: #"{other: "http://127.0.0.1:9001"}"#))
            #expect(pools(harness).isEmpty)
            #expect(pools(harness, "other") == ["0", "0", "0"])
            upstream.send(fine)
            caller.expect(fine)
        }
    }

    @Test func `connections of calls that began before a reload still count for their upstream`() {
        runProxy(file("match: {path: /}")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            harness.use(file("match: {path: /}", upstreams: #"{default: "http://127.0.0.1:9001"}"#))
            #expect(pools(harness) == ["0", "1", "0"])
            upstream.send(fine)
            caller.expect(fine)
            harness.settle()
            #expect(pools(harness) == ["0", "0", "0"])
        }
    }

    // MARK: Buckets

    private func errors(_ chain: String) -> [String] {
        let yaml = "listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:9000\n\(chain)\n"
        let diagnostics = Diagnostics()
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        return diagnostics.lines(file: "f")
    }

    private static let tooMany = (1...33).map { "\($0)ms" }.joined(separator: ", ")

    @Test(arguments: [
        ("[]", #"35: "buckets" is an empty list; write bounds such as [1ms, 10ms], or remove it"#),
        ("[1ms, 5]", #"41: "5" is not a valid bucket; write for example 500us or 10ms"#),
        ("[0s, 1s]", #"36: "0s" is not a valid bucket; write for example 500us or 10ms"#),
        ("none", #"35: "none" is not a valid bucket; write for example 500us or 10ms"#),
        ("[1ms, 5ms, 2ms]", #"46: "2ms" is not greater than the bucket before it; sort the list"#),
        ("[1ms, 1000us]", #"41: "1000us" is not greater than the bucket before it; sort the list"#),
        ("[\(tooMany)]", #"35: "buckets" has 33 bounds; write at most 32"#),
    ])
    func `a list of buckets that is wrong is an error with its place`(_ list: String, _ error: String) {
        #expect(errors("interceptors: [metrics: {buckets: \(list)}]") == ["f:3:\(error)"])
    }

    @Test(arguments: ["[1ms]", "250us", "[100us, 1ms, 1s]"])
    func `a list of buckets that ascends is good, wherever it stands and however often`(_ list: String) {
        let metrics = "{metrics: {buckets: \(list)}}"
        #expect(errors("interceptors: [\(metrics), \(metrics), metrics]\nchains: {a: [metrics, \(metrics)]}") == [])
    }

    @Test func `two lists of buckets that differ are an error that names the other place`() {
        let chains = "interceptors:\n  - metrics: {buckets: [1ms]}\nchains:\n  a:\n    - metrics: {buckets: [2ms]}"
        let problem =
            #""buckets" differs from the list on line 4; all metrics interceptors share one list, so write it only once"#
        #expect(errors(chains) == ["f:7:26: \(problem)"])
    }

    @Test func `a reload takes other buckets, and calls begin again to be counted in them`() {
        let chain = { (buckets: String) in plain + "\ninterceptors: [{metrics: {buckets: \(buckets)}}]\n" }
        runProxy(chain("[1ms]")) { harness in
            call(harness, "/a")
            let name = "martlet_rpc_duration_seconds_bucket"
            #expect(harness.metrics(name).map(\.last) == ["1", "1"])
            harness.use(chain("[1ms]"))
            #expect(harness.metrics(name).map(\.last) == ["1", "1"])
            harness.use(chain("[1ms, 2ms]"))
            #expect(harness.metrics(name).map(\.last) == ["0", "0", "0"])
            call(harness, "/a")
            #expect(harness.metrics(name).map(\.last) == ["1", "1", "1"])
        }
    }
}

import Configuration
import Documents
import HTTP2Kit
import Interceptors
import Testing
import Time

@testable import Proxy

/// Time-outs that the configuration gives to calls.
@Suite struct DeadlineTests {
    private static func deadline(_ options: String) -> String {
        "listen: 127.0.0.1:8080\nupstream: h2c://127.0.0.1:9000\ninterceptors:\n  - deadline: {\(options)}\n  - probe: {}\n"
    }

    /// What the upstream is told of the time of a call that has come this long before it.
    private func reported(
        _ options: String,
        _ fields: (String, String)...,
        type: String = "application/grpc",
        after time: Duration = .zero
    ) -> [String] {
        var reported: [String] = []
        runProxy(Self.deadline(options)) { harness in
            harness.upstream().behaviour = .hangs
            let head = [(":method", "POST"), (":scheme", "http"), (":authority", "a"), (":path", "/pkg.Service/Say")]
            let all = (head + [("content-type", type)] + fields).flatMap { HPACK.literal($0.0, $0.1) }
            harness.http2Caller().send(Frame(.headers, flags: Frame.Flag.endHeaders | Frame.Flag.end, stream: 1, all))
            harness.pass(time)
            harness.upstream().admit()
            let came = harness.upstream().acceptHTTP2(in: harness).next().split(separator: " | ")
            reported = came.filter { $0.contains("timeout") }.map(String.init)
        }
        return reported
    }

    @Test(arguments: [
        ("application/grpc", ["grpc-timeout: 2000m"]), ("application/grpc-web", ["grpc-timeout: 2000m"]),
        ("application/json", ["connect-timeout-ms: 2000"]), ("application/connect+json", ["connect-timeout-ms: 2000"]),
        ("text/plain", []),
    ])
    func `a call without a time-out gets the default, and an upstream of RPC is reported`(
        type: String,
        reported: [String]
    ) {
        #expect(self.reported("default: 2s", type: type) == reported)
        #expect(self.reported("max: 2s", type: type) == reported)
        #expect(self.reported("default: 2s, max: 1m", type: type) == reported)
        #expect(self.reported("default: none, max: 2s", type: type) == reported)
        #expect(self.reported("default: none, max: none, methods: {a.B/C: {max: 1s}}", type: type) == [])
    }

    @Test func `what is reported is what is left`() {
        #expect(reported("default: 2s", after: .milliseconds(300)) == ["grpc-timeout: 1700m"])
        #expect(reported("max: 2s", ("grpc-timeout", "1H"), after: .milliseconds(300)) == ["grpc-timeout: 1700m"])
    }

    @Test func `a longer time-out of the caller is cut, and a shorter one stays`() {
        #expect(reported("max: 2s", ("grpc-timeout", "1H")) == ["grpc-timeout: 2000m"])
        #expect(reported("max: 2s", ("grpc-timeout", "1S")) == ["grpc-timeout: 1S"])
        #expect(reported("default: 2s", ("grpc-timeout", "1H")) == ["grpc-timeout: 1H"])
        #expect(reported("default: 2s", ("grpc-timeout", "1S")) == ["grpc-timeout: 1S"])
        let connect = reported("max: 2s", ("connect-timeout-ms", "5000"), type: "application/json")
        #expect(connect == ["connect-timeout-ms: 2000"])
    }

    @Test func `a method has its own times, then a service, and what they do not say is as for all`() {
        let long = ("grpc-timeout", "1H")
        let methods = "methods: {pkg.Service/*: {default: 4s, max: 8s}, pkg.Service/Say: {max: 3s}}"
        #expect(reported("default: 2s, max: 5s, \(methods)") == ["grpc-timeout: 2000m"])
        #expect(reported(methods, long) == ["grpc-timeout: 3000m"])
        #expect(reported("max: 1s, methods: {pkg.Service/*: {default: 4s, max: 8s}}") == ["grpc-timeout: 4000m"])
        #expect(reported("max: 1s, methods: {pkg.Service/Say: {max: none}}", long) == ["grpc-timeout: 1H"])
        let others = "methods: {pkg.Service/Sa: {max: 3s}, pkg.Servic/*: {max: 4s}}"
        #expect(reported("max: 1s, \(others)") == ["grpc-timeout: 1000m"])
    }

    @Test func `the shortest of several counts`() {
        let more = "default: 3s}\n  - deadline: {default: 2s, max: 4s}\n  - deadline: {max: 1m"
        #expect(reported(more) == ["grpc-timeout: 3000m"])
        #expect(reported("default: 9s}\n  - deadline: {max: 4s") == ["grpc-timeout: 4000m"])
    }

    @Test(arguments: Transport.allCases)
    func `it is over like that of a caller`(_ transport: Transport) {
        runProxy(transport, Self.deadline("max: 1s")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", ("grpc-timeout", "1H")), .data(1, envelope("{}"), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            harness.pass(.milliseconds(980))
            caller.expectNothing()
            harness.pass(.milliseconds(40))
            #expect(caller.next().contains("grpc-status: 4 | grpc-message: request exceeded allowed timeout"))
            upstream.expect("1 RST_STREAM CANCEL")
            #expect(harness.eventLog.drain().last == "probe finished deadline_exceeded by martlet")
        }
    }

    @Test func `plain HTTP is over, too`() {
        runProxy(Self.deadline("default: 1s").replacing("h2c", with: "http")) { harness in
            let caller = harness.caller()
            caller.send(http("GET /p HTTP/1.1", "host: a"))
            let upstream = harness.upstream().accept()
            upstream.expect(http("GET /p HTTP/1.1", "host: 127.0.0.1:9000", "x-trace: probe"))
            harness.pass(.milliseconds(1020))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"))
            upstream.expectGone()
        }
    }

    @Test(arguments: [
        ("default: 0s", "\"default\" cannot be \"0s\""), ("max: 5", "\"max\" cannot be \"5\""),
        ("default: 2s, max: 1s", #""default" cannot be longer than "max"; write a shorter duration"#),
        (
            "methods: {pkg.S/M: {default: 2s, max: 1s}}",
            #""default" cannot be longer than "max"; write a shorter duration"#
        ),
        ("methods: {Say: {max: 1s}}", #""Say" is not a valid method; write pkg.Service/Method or pkg.Service/*"#),
        (
            "methods: {/pkg.S/M: {max: 1s}}",
            #""/pkg.S/M" is not a valid method; write pkg.Service/Method or pkg.Service/*"#
        ),
        (
            "methods: {pkg.*/M: {max: 1s}}",
            #""pkg.*/M" is not a valid method; write pkg.Service/Method or pkg.Service/*"#
        ),
    ])
    func `what cannot be meant is said when the file is loaded`(options: String, error: String) {
        let diagnostics = Diagnostics()
        let yaml = Self.deadline(options).replacing("  - probe: {}\n", with: "")
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        let found = diagnostics.lines(file: "f")
        #expect(found.count == 1)
        #expect(found.first?.contains(": \(error)") == true, "\(found)")
    }
}

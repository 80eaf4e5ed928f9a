import Configuration
import Documents
import Interceptors
import Testing

@testable import Proxy

/// Warnings of methods that routes bring to an upstream that speaks REST, which has no streams.
struct RESTUpstreamCheckTests {
    private func warnings(_ routes: String, speaks: String = "rest", chain: String = "metrics: {}") -> [String] {
        let diagnostics = Diagnostics()
        let yaml = """
            listen: 127.0.0.1:8080
            upstreams: {api: {url: "http://127.0.0.1:9000", speaks: \(speaks)}, rpc: {url: "h2c://127.0.0.1:9001", speaks: grpc}}
            types: {files: ["\(TestTypes.path)"]}
            interceptors: [{\(chain)}]
            chains: {none: [], mocked: [{when: {method: Talk}, reject: {code: aborted}}], cached: [metrics: {}]}
            routes: [\(routes)]
            """
        _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        #expect(diagnostics.lines(file: "f") == [])
        return diagnostics.warnings.map(\.message)
    }

    private static let streams =
        "calls of pkg.Service/Talk end with unimplemented: upstream \"api\" speaks REST, which has no streams"
    private static let advice = "; route them to another upstream"

    @Test(arguments: [
        "{upstream: api}",
        "{match: {service: pkg.Service, method: Talk}, upstream: api}",
        "{match: {method: Talk}, upstream: api}",
        "{match: {path: /pkg.Service/Talk}, upstream: api}",
        "{match: {path: /pkg.Service/Talk, protocol: grpc}, upstream: api}",
        "{match: {method: Talk, header: {x-a: present}}, upstream: api}",
        "{match: {method: Talk, host: a.example}, upstream: api}",
        "{match: {method: Talk, protocol: [connect, http]}, upstream: api}",
        "{match: {method: Say}, upstream: rpc}, {upstream: api}",
        "{match: {method: Talk, header: {x-a: present}}, upstream: rpc}, {upstream: api}",
        "{match: {method: Talk, host: a.example}, upstream: rpc}, {upstream: api, chain: none}",
        "{match: {method: Talk, protocol: grpc}, upstream: rpc}, {upstream: api, chain: cached}",
        "{match: {path: /other}, upstream: api}, {match: {method: Talk}, upstream: api}",
    ])
    func `a stream has no place in REST`(_ routes: String) {
        #expect(warnings(routes).filter { $0.contains("no streams") } == [Self.streams + Self.advice])
    }

    @Test(arguments: [
        "{match: {method: Talk}, upstream: rpc}, {upstream: api}",
        "{match: {path: /pkg.Service/Talk}, upstream: rpc}, {upstream: api}",
        "{match: {path: /pkg.Service/}, upstream: rpc}, {upstream: api}",
        "{match: {service: pkg.Service}, upstream: rpc}, {upstream: api}",
        "{upstream: rpc}, {upstream: api}",
        "{match: {path: /v1/}, upstream: api}, {upstream: rpc}",
        "{match: {method: Talk, protocol: http}, upstream: api}, {upstream: rpc}",
        "{match: {method: Talk, protocol: connect_unary}, upstream: api}, {upstream: rpc}",
        "{match: {protocol: [http, connect_get]}, upstream: api}, {upstream: rpc}",
        "{match: {service: other.Service}, upstream: api}, {upstream: rpc}",
        "{upstream: api, chain: mocked}",
        "{upstream: rpc}",
    ])
    func `there is no warning of calls that go elsewhere`(_ routes: String) {
        #expect(warnings(routes).filter { $0.contains("no streams") } == [])
    }

    @Test func `other upstreams have streams`() {
        #expect(warnings("{upstream: api}", speaks: "connect") == [])
        #expect(warnings("{upstream: api}", speaks: "grpc_web") == [])
    }

    @Test func `a chain that responds keeps calls away`() {
        #expect(warnings("{upstream: api}", chain: "reject: {code: aborted}") == [])
        #expect(warnings("{upstream: api}", chain: "when: {method: Say}, reject: {code: aborted}").count == 1)
    }

    @Test func `a method without a path is worth a warning if its route names it`() {
        let found = warnings("{match: {method: [Say, Read]}, upstream: api}")
        let problem = "calls of pkg.Service/Say, pkg.Service/Read end with unimplemented: upstream \"api\" speaks REST"
        let advice = "add google.api.http, or route them to another upstream"
        #expect(found == ["\(problem), and the methods have no path; \(advice)"])
    }
}

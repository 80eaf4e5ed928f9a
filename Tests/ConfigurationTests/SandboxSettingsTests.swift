import Configuration
import Documents
import Testing

struct SandboxSettingsTests {
    private static func needs(_ more: String) -> [SystemNeed.Kind] {
        let diagnostics = Diagnostics()
        let text = "listen: 127.0.0.1:0\n\(more)"
        _ = Settings(YAML.parse(Array(text.utf8), into: diagnostics), into: diagnostics)
        return diagnostics.needs.map(\.kind)
    }

    private static func errors(_ more: String) -> [String] {
        Reading("listen: 127.0.0.1:0\n\(more)").errors
    }

    @Test func `a sandbox is on, and limits no ports, unless the file says otherwise`() {
        let upstream = "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9000\n"
        let standard = Reading(upstream).settings.sandbox
        #expect(standard.isOn && !standard.fixesPorts)
        #expect(!Reading(upstream + "sandbox: off").settings.sandbox.isOn)
        #expect(Reading(upstream + "sandbox: { ports: fixed }").settings.sandbox.fixesPorts)
        #expect(standard.fixesUnixSockets)
        #expect(!Reading(upstream + "sandbox: { unix_sockets: any }").settings.sandbox.fixesUnixSockets)
    }

    @Test func `a file tells what it needs of the system, and where`() {
        let needs = Self.needs(
            """
            upstreams:
              a: { url: "https://a.example:444", tls: { ca: /a/ca.pem }, addresses: [10.0.0.1:1, 10.0.0.2] }
              b: { url: http://b.example, addresses: { file: /run/b } }
              e: { url: "unix:/run/e.sock" }
              c: { url: https://c.example, tls: { ca: system }, limits: { spool: /var/c } }
            calls: { d: { url: "http://127.0.0.1:81/", body: { file: /d } } }
            """
        )
        let expected: [SystemNeed.Kind] = [
            .connects(444), .reads("/a/ca.pem"), .connects(1), .connects(80), .reads("/run/b"), .connectsAnywhere,
            .connects(443), .writes("/var/c"), .connects(81), .reads("/d"),
            .connectsToSocket("/run/e.sock"),
        ]
        #expect(Set(needs) == Set(expected))
    }

    @Test(arguments: ["{ srv: _a._tcp.a.example }", "{ file: /run/a }"])
    func `fixed ports do not go with ports that are known at run time`(addresses: String) {
        let upstream = "upstreams: { a: { url: http://a.example, addresses: \(addresses) } }"
        #expect(Self.errors("\(upstream)\nsandbox: { ports: any }") == [])
        let problem = "these addresses have ports that are known only at run time"
        let advice = "write a list of addresses, or sandbox: { ports: any }"
        #expect(
            Self.errors("\(upstream)\nsandbox: { ports: fixed }").map { $0.suffix(problem.count + advice.count + 2) }
                == ["\(problem); \(advice)"]
        )
    }

    @Test func `without a sandbox its options have no effect`() {
        let errors = Self.errors("upstream: http://127.0.0.1:9000\nsandbox: { mode: off, ports: fixed }")
        #expect(errors == ["3:30: \"ports\" has no effect without a sandbox; remove it, or write mode: on"])
    }

    @Test func `a relative directory is rejected`() {
        let errors = Self.errors("upstream: http://127.0.0.1:9000\nsandbox: { read: models }")
        #expect(errors == ["3:18: \"models\" is not an absolute path; write for example /srv/models"])
    }
}

import Testing

@testable import Configuration

/// What a listener says of hosts and web pages.
@Suite struct CallerGuardSettingsTests {
    private func reading(_ options: String) -> Reading {
        Reading(
            """
            listeners:
              - address: 127.0.0.1:8080
                \(options)
            upstream: http://127.0.0.1:9000
            """
        )
    }

    private func guards(_ options: String) -> CallerGuardSettings? {
        let reading = reading(options)
        #expect(reading.errors == [])
        return reading.settings.listeners.first?.guards
    }

    @Test func `a listener that says nothing lists nothing`() {
        let guards = guards("proxy_status: off")
        #expect(guards?.hosts == nil)
        #expect(guards?.origins == nil)
    }

    @Test(arguments: [
        ("localhost:8080", "localhost", false, 8080),
        ("API.Internal", "api.internal", false, nil),
        ("'*.internal'", ".internal", true, nil),
        ("'*.internal:81'", ".internal", true, 81),
        ("'[::1]:8080'", "[::1]", false, 8080),
        ("127.0.0.1", "127.0.0.1", false, nil),
    ])
    func `a host has a port if only that is meant`(_ text: String, _ name: String, _ isSuffix: Bool, _ port: UInt16?) {
        let host = guards("hosts: [\(text)]")?.hosts?.first
        #expect(host?.name == name)
        #expect(host?.isSuffix == isSuffix)
        #expect(host?.port == port)
    }

    @Test(
        arguments: [
            ("any", .any),
            ("[any]", .any),
            ("[]", .listed([])),
            ("https://app.example", .listed(["https://app.example"])),
            ("[HTTPS://App.Example:443, 'http://a:80']", .listed(["https://app.example", "http://a"])),
            ("['http://localhost:3000', 'https://a:80']", .listed(["http://localhost:3000", "https://a:80"])),
            ("['http://[::1]:3000', 'moz-extension://abc']", .listed(["http://[::1]:3000", "moz-extension://abc"])),
        ] as [(String, CallerGuardSettings.Origins)]
    )
    func `an origin is kept as browsers write it`(_ text: String, _ origins: CallerGuardSettings.Origins) {
        #expect(guards("origins: \(text)")?.origins == origins)
    }

    @Test(arguments: [
        "'*'", "'*.127.0.0.1'", "a/b", "'http://a'", "'a:0'", "'a:99999'", "'a b'", "''", "'*.'", "'*a.b'",
    ])
    func `what is not a valid host is reported with its place`(_ text: String) {
        let errors = reading("hosts: [\(text)]").errors
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("3:13: ") == true, "\(errors)")
        #expect(
            errors.first?.contains("is not a valid host; write localhost:8080, api.internal or") == true,
            "\(errors)"
        )
    }

    @Test(arguments: ["'null'", "app.example", "'https://app.example/'", "'https://'", "'://a'", "'1s://a'", "'*'"])
    func `what is not a valid origin is reported with its place`(_ text: String) {
        let errors = reading("origins: [\(text)]").errors
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("3:15: ") == true, "\(errors)")
        #expect(errors.first?.contains("is not a valid origin; write a scheme and a host") == true, "\(errors)")
    }

    @Test func `any stands alone, and no host at all is a mistake`() {
        #expect(reading("origins: [any, 'https://a']").errors.first?.contains("any alone") == true)
        #expect(reading("hosts: []").errors.first?.contains("is an empty list") == true)
    }
}

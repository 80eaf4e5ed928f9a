import Configuration
import Documents
import Testing

/// Files that the configuration names by their paths, or as credentials of systemd.
struct NamedFileTests {
    private func listener(_ key: String) -> Reading {
        Reading(
            "listeners: [{ address: 127.0.0.1:1, tls: { certificate: a, key: \(key) } }]\nupstream: http://127.0.0.1:2\n"
        )
    }

    @Test func `a path, a file and a credential are told apart`() throws {
        for (text, place) in [
            ("server.key", NamedFile.Place.path("server.key")), ("{ file: server.key }", .path("server.key")),
            ("{ credential: server.key }", .credential("server.key")),
        ] {
            let reading = listener(text)
            #expect(reading.errors == [])
            #expect(reading.settings.listeners.first?.tls?.identity.key.place == place)
        }
    }

    @Test(arguments: ["''", "a/b", "/run/token", ".", "..", "a:b", "\"a\\tb\"", String(repeating: "a", count: 256)])
    func `a credential has the name of a file without a directory`(_ name: String) {
        let errors = listener("{ credential: \(name) }").errors
        #expect(errors.count == 1 && errors[0].hasPrefix("1:79: "), "\(errors)")
        #expect(
            errors.first?.contains("is not the name of a credential; write a file name without a directory") == true
        )
    }

    @Test func `a file has one place`() {
        #expect(
            listener("{ credential: a, file: b }").errors == [
                "1:67: \"file\" and \"credential\" cannot be set together; write exactly one of them"
            ]
        )
    }

    @Test func `the name of a credential is no secret, and a header of that name is one`() {
        let shown = String(
            decoding: Reading(
                """
                listeners: [{ address: 127.0.0.1:1, tls: { certificate: a, key: { credential: shown } } }]
                upstream: http://127.0.0.1:2
                interceptors:
                  - token: { credential: shown, phantom: { value: { credential: shown } } }
                  - headers: { request: { set: { credential: hidden } } }
                """
            ).settings.rendered.json,
            as: UTF8.self
        )
        #expect(shown.matches(of: /shown/).count == 3 && !shown.contains("hidden"), "\(shown)")
    }
}

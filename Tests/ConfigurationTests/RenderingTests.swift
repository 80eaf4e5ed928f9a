import Configuration
import Documents
import Testing

/// The configuration in effect, as the admin page shows it.
struct RenderingTests {
    private func rendered(_ yaml: String) -> String {
        String(decoding: Reading(yaml).settings.rendered.json, as: UTF8.self)
    }

    @Test func `short forms are written out and defaults filled in`() {
        #expect(
            rendered(SettingsTests.short) == """
                {"listeners":[{"address":"127.0.0.1:8080","allow_remote":false,"proxy_status":"auto",\
                "timeouts":{"head":"10s","body":"60s","idle":"1h","stalled":"60s","suspension":"30s"},\
                "limits":{"head":"64KiB","fields":200,"request_message":"none","response_message":"none",\
                "held_message":"4MiB","held_events":64,"held_bytes":"256KiB",\
                "heads":"4MiB","streams":1000,"resets":1000,"connections":10000}}],\
                "upstreams":{"default":{"url":"http://127.0.0.1:9000","host":"upstream","speaks":"same",\
                "timeouts":{"connect":"2s","waiting":"10s","first_byte":"none","attempt":"none","call":"none","idle":"60s","keepalive":"6m","max_age":"30m"},\
                "limits":{"connections":1024,"waiting":1024,"streams":100,"head":"64KiB","fields":200,"retry_buffer":"64KiB","addresses":512},\
                "cookies":"none","connect_wait":"none","retry_budget":{"ratio":0.2,"min_per_second":10}}},\
                "interceptors":[{"token":{"file":"/run/secrets/token"}}],\
                "workers":"auto",\
                "types":{"unknown_fields":"reject","json":{"names":"json","defaults":"omit","enums":"names"}},\
                "sandbox":{"mode":"on","ports":"any","unix_sockets":"fixed"},\
                "drain":{"min":"0s","max":"30s","handover":"5s","generation":"none"},"log_level":"info","core_dumps":false}
                """
        )
    }

    @Test func `what is rendered means the same`() {
        let diagnostics = Diagnostics()
        let settings = Reading(SettingsTests.full).settings
        let again = Settings(
            YAML.parse(settings.rendered.json, into: diagnostics),
            into: diagnostics,
            respondingKinds: ["reject", "respond"]
        )
        #expect(diagnostics.isEmpty)
        #expect(again.listeners == settings.listeners)
        #expect(again.upstreams == settings.upstreams)
        #expect(again.routes == settings.routes)
        #expect(again.admin == settings.admin)
        #expect(again.drain == settings.drain)
    }

    @Test func `the query of a URL is hidden, wherever that stands`() {
        let text = rendered(
            """
            listen: 127.0.0.1:8080
            upstream: http://127.0.0.1:9000
            calls:
              login: { url: "https://login.example/shown1?key=hunter1" }
              local: { url: "unix:/run/shown2.sock?key=hunter2" }
            interceptors:
              - token: { oauth2: { token_url: "https://id.example/shown3?key=hunter3", client_id: "shown4?5" } }
              - rewrite: { path: "/shown6?a=shown7" }
            """
        )
        for number in 1...7 { #expect(text.contains("shown\(number)") || number == 5, "\(text)") }
        #expect(!text.contains("hunter"), "\(text)")
    }

    @Test func `names of headers and fields are those of the one table`() {
        let names = [
            "x-amz-security-token", "x-session-id", "apiKey", "client_secret", "user_passwd", "sessionid", "otp",
            "jwt", "auth", "x-csrf", "code_verifier", "accessKey",
        ]
        let values = names.map { "\($0): hunter" }.joined(separator: ", ")
        let shown = "page: shown1, token_type: shown2, code: shown3, x-count: shown4"
        let text = rendered(
            """
            listen: 127.0.0.1:8080
            upstreams:
              auth: { url: "http://127.0.0.1:9000", cookies: jar }
              session-token: { url: "http://127.0.0.1:9001" }
            interceptors:
              - respond:
                  headers: { \(values), \(shown), location: "https://ann:hunter@h/shown5", x-link: "/a?sig=hunter&b=shown6" }
                  body: "Bearer hunter123"
            """
        )
        #expect(!text.contains("hunter"), "\(text)")
        for plain in ["9000", "9001", "jar"] + (1...6).map({ "shown\($0)" }) {
            #expect(text.contains(plain), "\(plain): \(text)")
        }
    }

    @Test func `an error quotes no credential`() {
        #expect(Diagnostic.quote("example.com/?api_key=hunter&a=b") == "\"example.com/?api_key=***&a=b\"")
        #expect(Diagnostic.quote("https://ann:hunter@h:x") == "\"https://***@h:x\"")
        #expect(Diagnostic.quote("10/x") == "\"10/x\"")
    }

    @Test func `secrets are hidden wherever they stand, and where they come from is not`() {
        let text = rendered(
            """
            listen: 127.0.0.1:8080
            upstream: http://127.0.0.1:9000
            interceptors:
              - when: { header: { authorization: hunter1, x-api-key: [hunter2] } }
                headers:
                  request:
                    set: { Authorization: "Bearer hunter3", cookie: "s=hunter4", x-env: shown1 }
                    remove: [authorization]
                    replace: { proxy-authorization: { pattern: hunter5, with: hunter6 } }
              - token: { file: /run/shown2, token: hunter7, client_secret: { file: /run/shown3, value: hunter8 } }
              - reject: { code: internal, metadata: { set-cookie: hunter9, x-auth: hunter11, x-sig: hunter12, x-secret-file: shown4 } }
            chains:
              other: [ { respond: { headers: { password: hunter10 }, body: shown5 } } ]
            """
        )
        #expect(!text.contains("hunter"))
        for number in 1...5 { #expect(text.contains("shown\(number)")) }
        #expect(text.contains("\"remove\":[\"authorization\"]"))
        #expect(text.contains("\"Authorization\":\"…\""))
    }
}

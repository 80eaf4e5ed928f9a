import Testing
import Time

@testable import Configuration

/// What good files mean.
struct SettingsTests {
    static let short = """
        listen: 127.0.0.1:8080
        upstream: http://127.0.0.1:9000
        interceptors:
          - token: { file: /run/secrets/token }
        """

    static let full = """
        workers: 4
        log_level: debug
        listeners:
          - address: 127.0.0.1:8080
            timeouts: { head: 5s, idle: none, stalled: 5m }
            limits:
              { head: 32KiB, fields: 100, request_message: 4MiB, response_message: none, heads: 1MiB, streams: 10, resets: 30,
                connections: 20 }
          - address: unix:/run/martlet/rpc.sock
            mode: "0600"
            owner: martlet
            group: app
          - { address: 0.0.0.0:80, allow_remote: true }
        admin: { address: unix:/run/martlet/admin.sock, mode: "0666" }
        drain: { min: 1s, max: none, handover: none, generation: 1h }
        upstreams:
          eliza:
            url: http://eliza.example:81
            timeouts: { connect: 250ms, first_byte: 1m, call: 1h, idle: 2s, keepalive: 10s, max_age: none }
            limits: { connections: 7, waiting: 0, streams: 5, retry_buffer: 0 }
          back: unix:/run/back.sock
        interceptors:
          - metrics: {}
          - name: auth
            when: { host: demo.example, header: { x-a: present, x-b: absent, x-c: [v, w], x-d: { regex: "^a" } } }
            token: { file: /run/secrets/oidc }
          - headers:
              request: { set: { x-env: "{env:ENV}" }, remove: [x-internal] }
          - headers: {}
        chains:
          closed: [ { reject: { code: permission_denied, message: "not from here" } } ]
        routes:
          - match: { service: pkg.Eliza, method: [Say, Ask], peer: { uid: 1000, gid: [1, 2] } }
            upstream: eliza
          - match: { path: /admin/ }
            chain: closed
          - upstream: back
        """

    @Test func `four lines are a whole configuration`() throws {
        let reading = Reading(Self.short)
        #expect(reading.errors == [])
        let settings = reading.settings
        let listener = try #require(settings.listeners.first)
        #expect(settings.listeners.count == 1)
        #expect(listener.address == .tcp(host: "127.0.0.1", port: 8080))
        let timeouts = listener.timeouts
        #expect(timeouts.head == .seconds(10))
        #expect(timeouts.idle == .seconds(3600))
        #expect(timeouts.stalled == .seconds(60))
        #expect(timeouts.suspension == .seconds(30))
        #expect(
            listener.limits
                == .init(
                    head: 65536,
                    fields: 200,
                    requestMessage: nil,
                    responseMessage: nil,
                    heldMessage: 4 << 20,
                    heldEvents: 64,
                    heldBytes: 256 << 10,
                    heads: 4 << 20,
                    streams: 1000,
                    resets: 1000,
                    connections: 10000
                )
        )
        #expect(settings.interceptors.map(\.kind) == ["token"])
        #expect(settings.interceptors[0].options["file"]?.text == "/run/secrets/token")
        #expect(settings.interceptors[0].kindMark == Mark(line: 4, column: 5))
        #expect(settings.routes.count == 1)
        #expect(settings.routes[0].upstream == "default")
        #expect(settings.routes[0].match == nil)
        #expect(settings.workers == nil)
        #expect(settings.admin.isEmpty)
        #expect(settings.drain.min == .zero)
        #expect(settings.drain.max == .seconds(30))
        #expect(settings.drain.handover == .seconds(5))
        #expect(settings.drain.generation == nil)
        #expect(settings.logLevel == .info)
    }

    @Test func `four lines are a whole upstream`() {
        let settings = Reading(Self.short).settings
        #expect(settings.upstreams.map(\.name) == ["default"])
        let upstream = settings.upstreams[0]
        #expect(upstream.url.description == "http://127.0.0.1:9000")
        #expect(
            upstream.timeouts
                == .init(
                    connect: .seconds(2),
                    waiting: .seconds(10),
                    firstByte: nil,
                    attempt: nil,
                    call: nil,
                    idle: .seconds(60),
                    keepalive: .seconds(360),
                    maxAge: .seconds(1800)
                )
        )
        #expect(upstream.defaults.headers == [])
        #expect(upstream.defaults.query == [])
        #expect(upstream.cookies == .none)
        #expect(upstream.connectWait == nil)
        #expect(upstream.retryBudget.perThousand == 200)
        #expect(upstream.retryBudget.minimumPerSecond == 10)
        #expect(
            upstream.limits
                == .init(
                    connections: 1024,
                    waiting: 1024,
                    streams: 100,
                    head: 65_536,
                    fields: 200,
                    retryBuffer: 65_536,
                    spool: nil,
                    calls: nil,
                    addresses: 512
                )
        )
    }

    @Test func `the full form says everything about listeners, admin, drain and workers`() {
        let reading = Reading(Self.full)
        #expect(reading.errors == [])
        let settings = reading.settings
        #expect(
            settings.listeners.map(\.address.description) == [
                "127.0.0.1:8080", "unix:/run/martlet/rpc.sock", "0.0.0.0:80",
            ]
        )
        let timeouts = settings.listeners[0].timeouts
        let (body, stalled, suspension) = (Duration.seconds(60), Duration.seconds(300), Duration.seconds(30))
        #expect(
            timeouts
                == .init(head: .seconds(5), body: body, idle: nil, stalled: stalled, suspension: suspension)
        )
        #expect(
            settings.listeners[0].limits
                == .init(
                    head: 32768,
                    fields: 100,
                    requestMessage: 4_194_304,
                    responseMessage: nil,
                    heldMessage: 4 << 20,
                    heldEvents: 64,
                    heldBytes: 256 << 10,
                    heads: 1 << 20,
                    streams: 10,
                    resets: 30,
                    connections: 20
                )
        )
        #expect(settings.listeners[1].permissions == SocketPermissions(mode: 0o600, owner: "martlet", group: "app"))
        #expect(settings.listeners[2].allowRemote)
        #expect(settings.admin.first?.address == .unix(path: "/run/martlet/admin.sock"))
        #expect(settings.admin.first?.permissions.mode == 0o666)
        #expect(settings.drain.min == .seconds(1))
        #expect(settings.drain.max == nil)
        #expect(settings.drain.handover == nil)
        #expect(settings.drain.generation == .seconds(3600))
        #expect(settings.workers == 4)
        #expect(settings.logLevel == .debug)
    }

    @Test func `upstreams come in the order of their names with all they say`() {
        let settings = Reading(Self.full).settings
        #expect(settings.upstreams.map(\.name) == ["back", "eliza"])
        #expect(settings.upstream(named: "back")?.url.endpoint == .unix(path: "/run/back.sock"))
        let eliza = settings.upstream(named: "eliza")
        #expect(eliza?.url.endpoint == .tcp(HostPort(host: "eliza.example", port: 81)))
        #expect(eliza?.mark == Mark(line: 17, column: 3))
        #expect(
            eliza?.timeouts
                == .init(
                    connect: .milliseconds(250),
                    waiting: .seconds(10),
                    firstByte: .seconds(60),
                    attempt: nil,
                    call: .seconds(3600),
                    idle: .seconds(2),
                    keepalive: .seconds(10),
                    maxAge: nil
                )
        )
        #expect(
            eliza?.limits
                == .init(
                    connections: 7,
                    waiting: 0,
                    streams: 5,
                    head: 65_536,
                    fields: 200,
                    retryBuffer: 0,
                    spool: nil,
                    calls: nil,
                    addresses: 512
                )
        )
    }

    @Test func `a spool has a directory, and bounds`() {
        func spool(_ text: String) -> Reading {
            Reading(
                """
                listen: 127.0.0.1:8080
                upstreams: { default: { url: 'http://127.0.0.1:9000', limits: { spool: \(text) } } }
                """
            )
        }
        let short = spool("/var/cache/martlet").settings.upstreams[0].limits.spool
        #expect(short?.directory.text == "/var/cache/martlet")
        #expect((short?.max, short?.total) == (1 << 30, 4 << 30))
        let full = spool("{ to: /spool, max: 1MiB, total: 2MiB }").settings.upstreams[0].limits.spool
        #expect((full?.max, full?.total) == (1 << 20, 2 << 20))
        #expect(spool("{ max: 1MiB }").errors.count == 1)
        #expect(spool("{ to: /spool, max: 2MiB, total: 1MiB }").errors.first?.contains("\"max\" is larger") == true)
    }

    @Test func `interceptors are named by their kinds, and numbered where a kind comes again`() {
        let settings = Reading(Self.full).settings
        #expect(settings.interceptors.map(\.name) == ["metrics", "auth", "headers", "headers-2"])
        #expect(settings.interceptors.map(\.kind) == ["metrics", "token", "headers", "headers"])
    }

    @Test func `a condition holds all that is asked of a call`() {
        let settings = Reading(Self.full).settings
        let when = settings.interceptors[1].when
        #expect(when?.hosts == ["demo.example"])
        #expect(when?.headers.map(\.name) == ["x-a", "x-b", "x-c", "x-d"])
        #expect(
            when?.headers.map(\.test) == [
                .present, .absent, .exact(["v", "w"]), .regex(MarkedString("^a", at: .start)),
            ]
        )
        let match = settings.routes[0].match
        #expect(match?.services == ["pkg.Eliza"])
        #expect(match?.methods == ["Say", "Ask"])
        #expect(match?.peerUsers == [1000])
        #expect(match?.peerGroups == [1, 2])
        #expect(settings.routes[1].match?.paths == ["/admin/"])
        #expect(settings.routes[2].match == nil)
    }

    @Test func `a route names an upstream or a chain that responds`() {
        let settings = Reading(Self.full).settings
        #expect(settings.routes.map(\.upstream) == ["eliza", nil, "back"])
        #expect(settings.routes.map(\.chain) == [nil, "closed", nil])
        #expect(settings.items(of: settings.routes[1]).map(\.kind) == ["reject"])
        #expect(settings.items(of: settings.routes[0]) == settings.interceptors)
    }

    @Test func `a chain that responds needs no upstream`() {
        let reading = Reading("listen: 127.0.0.1:1\ninterceptors: [respond: {json: {a: 1}}]\n")
        #expect(reading.errors == [])
        #expect(reading.settings.routes[0].upstream == nil)
    }

    @Test func `a kind alone is an interceptor without options`() {
        let reading = Reading("listen: 127.0.0.1:1\nupstream: http://a\ninterceptors: [metrics, log]\n")
        #expect(reading.errors == [])
        #expect(reading.settings.interceptors.map(\.kind) == ["metrics", "log"])
    }

    @Test func `a list of addresses is short for listeners`() {
        let reading = Reading(
            "listen: [127.0.0.1:1, \"unix:@a\", \"[::1]:2\", systemd:web]\nupstream: http://localhost\n"
        )
        #expect(reading.errors == [])
        #expect(
            reading.settings.listeners.map(\.address) == [
                .tcp(host: "127.0.0.1", port: 1), .abstract(name: "a"), .tcp(host: "::1", port: 2),
                .systemd(name: "web"),
            ]
        )
    }

    @Test func `settings are equal when only their place in the file changed`() {
        let moved = "# a comment\n\n" + Self.full.replacing("  eliza:", with: "\n  eliza:   # here")
        let (before, after) = (Reading(Self.full).settings, Reading(moved).settings)
        #expect(after == before)
        #expect(after.upstreams[1].mark != before.upstreams[1].mark)
    }

    @Test(arguments: [
        ("head: 5s", "head: 6s"), ("streams: 10", "streams: 11"), ("\"0600\"", "\"0601\""), (":81", ":82"),
        ("code: permission_denied", "code: not_found"), ("{ regex: \"^a\" }", "{ regex: \"^b\" }"),
        ("min: 1s", "min: 2s"), ("request_message: 4MiB", "request_message: none"),
        ("keepalive: 10s", "keepalive: 11s"),
    ])
    func `settings differ when what they mean changed`(old: String, new: String) {
        #expect(Reading(Self.full).settings != Reading(Self.full.replacing(old, with: new)).settings)
    }
}

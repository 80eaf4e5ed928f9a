import Events
import Glibc
import Testing

@testable import Proxy

/// The systemd unit of who calls over a Unix socket.
@Suite struct PeerUnitTests {
    private func unit(_ controlGroups: String) -> String? {
        PeerUnit.name(in: Array(controlGroups.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("0::/system.slice/app.service\n", "app.service"),
        ("0::/system.slice/system-app.slice/app@1.service", "app@1.service"),
        ("0::/init.scope\n", "init.scope"),
        ("0::/system.slice/_cpu.service\n", "cpu.service"),
        ("0::/../../system.slice/app.service\n", "app.service"),
        ("0::/user.slice/user-1000.slice/session-2.scope\n", "session-2.scope"),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app.service\n", "app.service"),
        ("0::/user.slice/user-1000.slice/user@1000.service/init.scope\n", "init.scope"),
        ("0::/user.slice/user-1000.slice/user@1000.service\n", "user@1000.service"),
        ("0::/system.slice/user@cache.service/main\n", "user@cache.service"),
    ])
    func `a process is in the unit that systemd has put it into`(controlGroups: String, name: String) {
        #expect(unit(controlGroups) == name)
    }

    @Test func `what a unit has within itself is not systemd's`() {
        #expect(unit("0::/system.slice/app.service/other.service\n") == "app.service")
        #expect(unit("0::/machine.slice/box.scope/system.slice/app.service\n") == "box.scope")
        #expect(unit("0::/system.slice/user@cache.service/app.service\n") == "user@cache.service")
    }

    /// A slash and a combining mark are one `Character`; user 1000 may name groups like this.
    @Test func `a name within a user's manager cannot hide where it stands`() {
        let hidden = "0::/user.slice/user-1000.slice/user@1000.service/\u{301}x.slice/app.service/b.service\n"
        #expect(unit(hidden) == "app.service")
        #expect(unit("0::/user.slice/user@1000.service/\u{301}x.slice/y\n") == "user@1000.service")
        #expect(unit("0::/system.slice/app.service/\u{301}x.slice/other.service\n") == "app.service")
    }

    @Test func `of the older hierarchies that of systemd counts`() {
        let old = "12:cpu,cpuacct:/system.slice/wrong.service\n1:name=systemd:/system.slice/app.service\n0::/\n"
        #expect(unit(old) == "app.service")
        #expect(unit("3:cpuset:/a.service\n") == nil)
    }

    @Test(arguments: ["", "\n", "0::/\n", "0::/a/b\n", "nonsense", "0:", "0::/system.slice/app.service (deleted)\n"])
    func `where no unit is named there is none`(controlGroups: String) {
        #expect(unit(controlGroups) == nil)
    }

    @Test func `the unit of a running process is what the kernel says, and one that is gone has none`() throws {
        let own = try SmallFile.read("/proc/self/cgroup", limit: 64 * 1024).get()
        #expect(PeerUnit(of: getpid())?.name == PeerUnit.name(in: own))
        #expect(PeerUnit(of: .max)?.name == nil)
        #expect(PeerUnit(of: 0) == nil)
    }

    /// What three calls of one connection are answered, and how often the file was read for it.
    private func calls(_ condition: String, _ controlGroups: String?) -> (responses: [String], reads: Int) {
        let yaml = """
            listen: unix:/run/a.sock
            interceptors:
              - {when: {\(condition)}, respond: {body: "one"}}
              - {when: {\(condition)}, respond: {body: "two"}}
              - respond: {body: "not"}
            """
        var responses: [String] = []
        var reads = 0
        runProxy(yaml) { harness in
            let unit = PeerUnit(of: 4711) { _ in
                reads += 1
                return controlGroups.map { Array($0.utf8) }
            }
            let credentials = PeerCredentials(uid: 1000, gid: 1000, pid: 4711)
            let caller = harness.caller(
                on: "unix:/run/a.sock",
                as: Peer(address: nil, credentials: credentials, unit: unit)
            )
            for _ in 1...3 {
                caller.send(get)
                _ = caller.head()
                responses.append(String(decoding: caller.receive(3), as: UTF8.self))
            }
        }
        return (responses, reads)
    }

    @Test func `a unit is read once for a connection, and only if a condition asks`() {
        let app = "0::/system.slice/app.service\n"
        #expect(calls("peer: {unit: app.service}", app) == (["one", "one", "one"], 1))
        #expect(calls("peer: {unit: [x.scope, app.service], uid: 1000}", app) == (["one", "one", "one"], 1))
        #expect(calls("peer: {unit: ap.service}", app) == (["not", "not", "not"], 1))
        #expect(calls("peer: {unit: app.service, uid: 1}", app) == (["not", "not", "not"], 0))
        #expect(calls("peer: {uid: 1000}", app) == (["one", "one", "one"], 0))
    }

    @Test func `what is read of a process that has ended meanwhile is not believed`() throws {
        for hasEnded in [true, false] {
            let unit = try #require(PeerUnit(of: 4711) { _ in Array("0::/system.slice/app.service\n".utf8) })
            unit.settle { hasEnded }
            #expect((unit.name == nil) == hasEnded)
        }
    }

    @Test(arguments: [
        ("routes: [{match: {peer: {unit: a.service}}}]", true),
        ("interceptors: [{when: {peer: {unit: a.service}}, log: {}}]", true),
        ("chains: {c: [{when: {peer: {unit: a.service}}, log: {}}]}\nroutes: [{chain: c}]", true),
        ("interceptors: [{when: {peer: {uid: 0}}, log: {}}]", false),
    ])
    func `units are read at once where the file asks for them`(_ yaml: String, _ asks: Bool) {
        runProxy("listen: unix:/run/a.sock\nupstream: http://127.0.0.1:9\n\(yaml)") { harness in
            #expect(harness.worker.generation.asksForUnits == asks)
        }
    }

    @Test func `a process that is gone is in no unit`() {
        #expect(calls("peer: {unit: app.service}", nil) == (["not", "not", "not"], 1))
    }
}

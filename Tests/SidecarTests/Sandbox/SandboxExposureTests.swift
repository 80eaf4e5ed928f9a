import Configuration
import Testing

@testable import Sidecar

@Suite struct SandboxExposureTests {
    private static func exposure(_ path: String, _ more: String = "", links: [String: String] = [:]) -> String? {
        var machine = SandboxRulesTests.machine(directories: ["/opt/a/logs", "/srv/b"])
        machine.link = { links[$0] }
        return SandboxRulesTests.rules(more, on: machine).exposure(of: [("the file", path)], on: machine)?.directory
    }

    @Test(arguments: ["/usr/bin/martlet", "/opt/a/martlet", "/tmpfile", "/usr/../etc/martlet.yaml"])
    func `a file elsewhere is not exposed`(path: String) {
        #expect(Self.exposure(path) == nil)
    }

    @Test(arguments: ["/tmp/martlet", "/tmp/a/b/martlet", "/usr/../tmp/a", "/./tmp/a", "/tmp/../usr/bin/martlet"])
    func `a file below a directory that can be written is exposed`(path: String) {
        #expect(Self.exposure(path) == "/tmp")
    }

    @Test func `links are followed, and their directories count`() {
        let usr = "/usr/bin/martlet"
        #expect(Self.exposure("/opt/martlet", links: ["/opt/martlet": usr]) == nil)
        #expect(Self.exposure("/tmp/martlet", links: ["/tmp/martlet": usr]) == "/tmp")
        #expect(Self.exposure(usr, links: [usr: "../../tmp/a"]) == "/tmp")
        #expect(Self.exposure("/opt/x/martlet", links: ["/opt/x": "/var/tmp/x"]) == "/var/tmp")
        #expect(Self.exposure(usr, links: ["/usr/bin": "/opt/c", "/opt/c": "/tmp/c", "/tmp/c": "/usr/sbin"]) == "/tmp")
        #expect(Self.exposure("/loop/a", links: ["/loop": "/loop"]) == nil)
    }

    @Test func `directories of the file count`() {
        let sandbox = "sandbox: { write: [/opt/a/logs, /srv/b] }"
        #expect(Self.exposure("/opt/a/martlet.yaml", sandbox) == nil)
        #expect(Self.exposure("/opt/a/logs/martlet.yaml", sandbox) == "/opt/a/logs")
        #expect(Self.exposure("/srv/b/c/martlet.yaml", sandbox) == "/srv/b")
        #expect(Self.exposure("/srv/b/martlet.yaml", "listen: unix:/srv/b/rpc.sock") == nil)
    }

    @Test func `only temporary directories are scratch`() {
        let machine = SandboxRulesTests.machine(directories: ["/srv/b"])
        let rules = SandboxRulesTests.rules("sandbox: { write: /srv/b }", on: machine)
        let files = [(name: "the program", path: "/usr/bin/a"), ("the configuration", "/srv/b/a")]
        let exposure = rules.exposure(of: files, on: machine)
        #expect(exposure == .init(file: "the configuration /srv/b/a", directory: "/srv/b", isScratch: false))
        #expect(rules.exposure(of: [("the program", "/tmp/a")], on: machine)?.isScratch == true)
    }

    @Test(
        arguments: [(0, ["/run/user/0/bus", "/run/dbus/system_bus_socket"]), (7, ["/run/user/7/bus"])]
            as [(UInt32, [String])]
    )
    func `managers are those that the user can reach`(user: UInt32, managers: [String]) {
        var machine = SandboxRulesTests.machine()
        machine.user = user
        machine.canConnect = { $0.hasSuffix("bus") || $0.hasSuffix("bus_socket") }
        #expect(machine.managers == managers)
        machine.variable = { $0 == "XDG_RUNTIME_DIR" ? "/run/x" : nil }
        #expect(machine.managers.first == "/run/x/bus")
    }
}

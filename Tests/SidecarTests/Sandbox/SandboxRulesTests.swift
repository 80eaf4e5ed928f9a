import Configuration
import Documents
import Testing

@testable import Sidecar

@Suite struct SandboxRulesTests {
    /// A machine on which these files are, by what they lead to.
    static func machine(
        files: [String: String] = [:],
        directories: [String] = [],
        variables: [String: String] = [:],
        corePattern: String = "|/usr/bin/cores"
    ) -> SandboxMachine {
        let parents = (Array(files.keys) + Array(files.values) + directories).flatMap { path in
            let names = path.split(separator: "/")
            return names.indices.dropFirst().map { "/" + names[..<$0].joined(separator: "/") }
        }
        let places = Set(parents + directories + ["/", "/tmp", "/var/tmp", "/dev", "/dev/shm"])
        return SandboxMachine(
            roots: ["boot", "dev", "etc", "home", "proc", "root", "srv", "usr", "var"],
            resolve: { path in
                if let target = files[path] { return .init(path: target, isDirectory: false) }
                return places.contains(path) ? .init(path: path, isDirectory: true) : nil
            },
            variable: { variables[$0] },
            corePattern: corePattern
        )
    }

    static func rules(
        _ more: String,
        upstream: String = "{ default: { url: http://127.0.0.1:9000 } }",
        on machine: SandboxMachine = machine(),
        file: String? = nil,
        admin: [ListenAddress] = []
    ) -> SandboxRules {
        let diagnostics = Diagnostics()
        let text = "upstreams: \(upstream)\n" + more + (more.contains("listen") ? "" : "\nlisten: 127.0.0.1:80")
        let settings = Settings(YAML.parse(Array(text.utf8), into: diagnostics), into: diagnostics)
        #expect(diagnostics.sorted.map(\.message) == [])
        return SandboxRules(settings, needs: diagnostics.needs, admin: admin, file: file, on: machine)
    }

    private static let all = Sandbox.Parts(
        files: true,
        ports: true,
        unixSockets: true,
        syscalls: true,
        privileges: true
    )

    @Test func `systems are read, people and disks are not`() {
        let rules = Self.rules("")
        #expect(rules.readable == ["/etc", "/proc", "/usr", "/var"])
        #expect(rules.writable == ["/dev/shm", "/tmp", "/var/tmp"])
        #expect(!rules.startsPrograms)
        #expect(rules.ports == nil)
    }

    @Test func `the directories of a service may be written`() {
        let machine = Self.machine(
            directories: ["/run/martlet", "/var/lib/a", "/var/lib/b"],
            variables: ["RUNTIME_DIRECTORY": "/run/martlet", "STATE_DIRECTORY": "/var/lib/a:/var/lib/b:/not/there"]
        )
        #expect(Self.rules("", on: machine).writable.dropFirst(3) == ["/run/martlet", "/var/lib/a", "/var/lib/b"])
    }

    @Test func `the directory of a file is read, and that of what it leads to`() {
        let machine = Self.machine(files: [
            "/home/a/ca.pem": "/srv/ca/2.pem", "/home/m/martlet.yaml": "/home/m/martlet.yaml",
        ])
        let upstream = "upstreams: { a: { url: https://a.example, tls: { ca: /home/a/ca.pem } } }"
        let diagnostics = Diagnostics()
        let root = YAML.parse(Array("listen: 127.0.0.1:1\n\(upstream)".utf8), into: diagnostics)
        let settings = Settings(root, into: diagnostics)
        let rules = SandboxRules(
            settings,
            needs: diagnostics.needs,
            admin: [],
            file: "/home/m/martlet.yaml",
            on: machine
        )
        #expect(rules.readable.dropFirst(4) == ["/home/m", "/home/a", "/srv/ca"])
    }

    @Test func `names are looked up by files that may be elsewhere`() {
        let machine = Self.machine(files: ["/etc/resolv.conf": "/mnt/wsl/resolv.conf"])
        #expect(Self.rules("", on: machine).readable.last == "/mnt/wsl")
    }

    @Test func `a file in the root directory does not open all others`() {
        let machine = Self.machine(files: ["/martlet.yaml": "/martlet.yaml"])
        #expect(Self.rules("", on: machine, file: "/martlet.yaml").readable.last == "/martlet.yaml")
    }

    @Test func `a directory that is missing does not open the one around it`() {
        let machine = Self.machine(directories: ["/home/a", "/data"])
        let rules = Self.rules("sandbox: { read: [/home/a, /home/none], write: [/data, /data/none] }", on: machine)
        #expect(rules.readable.last == "/home/a" && rules.writable.last == "/data")
        #expect(rules.writable.dropFirst(3) == ["/data"])
    }

    @Test func `sockets and spools are made in their directories`() {
        let machine = Self.machine(directories: ["/run/a", "/run/b", "/var/cache/c"])
        let rules = Self.rules(
            "listen: unix:/run/a/rpc.sock",
            upstream: "{ default: { url: http://a.example, limits: { spool: /var/cache/c } } }",
            on: machine,
            admin: [.unix(path: "/run/b/admin.sock")]
        )
        #expect(rules.writable.dropFirst(3) == ["/var/cache/c"])
        #expect(rules.sockets == ["/run/a", "/run/b"])
    }

    @Test func `an upstream on a Unix socket keeps Unix sockets`() {
        let rules = Self.rules("", upstream: "{ default: { url: 'unix:/run/up.sock' } }")
        #expect(rules.connectsToSockets && !rules.connectsToAbstractSockets)
        #expect(!Self.rules("listen: unix:/run/a.sock").connectsToSockets)
        let all = Self.rules("sandbox: { unix_sockets: any }")
        #expect(all.connectsToSockets && all.connectsToAbstractSockets)
    }

    @Test(arguments: [("/run/systemd/notify", false), ("@manager", true)])
    func `a service manager may have an abstract socket`(socket: String, isAbstract: Bool) {
        let machine = Self.machine(variables: ["NOTIFY_SOCKET": socket])
        let rules = Self.rules("", on: machine)
        #expect(rules.connectsToAbstractSockets == isAbstract && !rules.connectsToSockets)
    }

    @Test(arguments: [("|/usr/bin/cores", false), ("/var/crash/core.%p", true)])
    func `cores are written where the kernel puts them`(pattern: String, isFile: Bool) {
        let machine = Self.machine(directories: ["/var/crash"], corePattern: pattern)
        #expect(Self.rules("core_dumps: true", on: machine).writable.contains("/var/crash") == isFile)
        #expect(!Self.rules("", on: machine).writable.contains("/var/crash"))
    }

    @Test func `ports are those of the file and of name servers`() {
        let fixed = "sandbox: { ports: fixed }"
        #expect(Self.rules(fixed).ports == .init(listening: [80], connecting: [53, 9000]))
        let chosen = Self.rules("\(fixed)\nlisten: [127.0.0.1:80, 127.0.0.1:0]")
        #expect(chosen.ports == .init(listening: nil, connecting: [53, 9000]))
    }

    @Test func `a later file may need what the first allows`() {
        let machine = Self.machine(
            files: ["/home/a/token": "/home/a/token", "/dev/stdout": "/dev/pts/1"],
            directories: ["/var/log/a"]
        )
        let rules = Self.rules("sandbox: { write: /var/log/a, ports: fixed }", on: machine)
        let allowed: [SystemNeed.Kind] = [
            .reads("/etc/new"), .writes("/var/log/a/new"), .writes("/tmp/new"), .writes("/dev/stdout"), .connects(9000),
            .reads("/var/log/a/b"),
        ]
        let denied: [SystemNeed.Kind] = [
            .reads("/home/a/token"), .connectsToSocket("/run/up.sock"), .writes("/var/log/b"), .writes("/var/log/ab"),
            .starts("/usr/bin/a"),
            .connects(80),
        ]
        for need in allowed { #expect(rules.problem(with: need, Self.all, on: machine) == nil, "\(need)") }
        for need in denied { #expect(rules.problem(with: need, Self.all, on: machine) != nil, "\(need)") }
        #expect(rules.problem(listeningOn: .tcp(host: "::", port: 80), Self.all, on: machine) == nil)
        #expect(rules.problem(listeningOn: .tcp(host: "::", port: 81), Self.all, on: machine) != nil)
        #expect(rules.problem(listeningOn: .unix(path: "/run/x.sock"), Self.all, on: machine) != nil)
        #expect(rules.problem(listeningOn: .unix(path: "/tmp/x.sock"), Self.all, on: machine) != nil)
        #expect(rules.problem(listeningOn: .abstract(name: "x"), Self.all, on: machine) != nil)
        #expect(rules.problem(listeningOn: .abstract(name: "x"), Sandbox.Parts(), on: machine) == nil)
        // What the kernel does not enforce is not denied.
        for need in denied { #expect(rules.problem(with: need, Sandbox.Parts(), on: machine) == nil, "\(need)") }
    }
}

import Proxy
import Testing

@testable import Sidecar

/// What the program understands of its command line.
struct InvocationTests {
    private func read(_ line: String) throws(UsageError) -> Invocation {
        try Invocation(line.split(separator: " ").map(String.init))
    }

    @Test(arguments: [
        ("", "run"), ("run", "run"), ("--watch", "run"), ("check", "check"), ("-t", "check"), ("--test", "check"),
        ("-c a.yaml -t", "check"), ("-t -c a.yaml", "check"), ("explain POST /a.B/C", "explain"), ("reload", "reload"),
        ("--ready healthcheck", "healthcheck"), ("-v", "version"), ("-V", "version"), ("version", "version"),
        ("-h", "help"), ("check --help", "help"), ("help check", "help"), ("schema", "schema"),
        ("exec -- a", "exec"), ("--wait 1s exec -- a", "exec"), ("exec --help -- a", "help"), ("wait", "wait"),
    ])
    func `a line names a command`(line: String, command: String) throws {
        #expect(try read(line).command.name == command)
    }

    @Test(arguments: [
        "-c a.yaml", "--config a.yaml", "--config=a.yaml", "run -c a.yaml", "-c a.yaml run", "-c b.yaml -c a.yaml",
        "-t -c a.yaml",
    ])
    func `the file is given in every spelling`(line: String) throws {
        #expect(try read(line)[.config] == "a.yaml")
    }

    @Test func `a value may look like an option or have an equals sign`() throws {
        #expect(try read("status --admin=unix:/a=b")[.admin] == "unix:/a=b")
        #expect(try read("explain POST /a.B/C -d --help")[.data] == "--help")
        #expect(try read("-c --watch")[.config] == "--watch")
    }

    @Test func `flags are off unless they are given`() throws {
        let invocation = try read("run --watch")
        #expect(invocation.has(.watch) && !invocation.has(.ready) && invocation[.config] == nil)
        #expect(try read("-V").has(.libraries))
        #expect(try !read("-v").has(.libraries))
    }

    @Test func `the request of explain has its headers in order`() throws {
        let arguments = [
            "explain", "-H", "X-A: 1", "post", "-c", "a.yaml", "--header", "x-a:  2", "/a.B/C?d=e", "-d", "{}",
        ]
        let invocation = try Invocation(arguments)
        let request = try Explain.request(invocation)
        #expect((request.method, request.target) == ("POST", "/a.B/C?d=e"))
        #expect(request.headers.map(\.name) == ["x-a", "x-a"] && request.headers.map(\.value) == ["1", "2"])
        #expect(request.messages == [Array("{}".utf8)])
        #expect(invocation[.config] == "a.yaml")
    }

    @Test func `what follows two dashes is for the program`() throws {
        let invocation = try read("exec -c a.yaml --wait 1s -- make --help -c b -- --wait")
        #expect(invocation.trailing == ["make", "--help", "-c", "b", "--", "--wait"])
        #expect(invocation[.config] == "a.yaml" && invocation[.readyTime] == "1s")
    }

    @Test(arguments: ["stop --wait -c a.yaml", "stop -c a.yaml --wait", "-c a.yaml stop --wait"])
    func `an option takes a value if it does so for the command`(line: String) throws {
        let stop = try read(line)
        #expect(stop.has(.untilStopped) && !stop.has(.readyTime) && stop[.config] == "a.yaml")
        let exec = try read("exec --wait stop --wait=5s -- a")
        #expect(exec[.readyTime] == "5s" && !exec.has(.untilStopped) && exec.operands.isEmpty)
    }

    @Test func `one spelling belongs to one option of a command and no two commands share a name`() {
        let aliases = Command.all.flatMap(\.aliases).flatMap(\.spellings)
        for command in Command.all {
            let spellings = (command.options + [.help]).flatMap(\.spellings) + aliases
            #expect(Set(spellings).count == spellings.count, "\(command.name)")
        }
        #expect(Set(Command.all.map(\.name)).count == Command.all.count)
    }

    @Test(arguments: Command.all.flatMap(\.aliases))
    func `an alias stands for words that are understood`(alias: Command.Alias) throws {
        for spelling in alias.spellings {
            #expect(try Invocation([spelling]).command.name == Invocation(alias.words).command.name)
        }
    }
}

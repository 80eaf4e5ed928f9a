import Testing

@testable import Sidecar

/// What a wrong command line is told.
struct UsageErrorTests {
    private func error(_ arguments: [String]) -> UsageError? {
        do throws(UsageError) {
            let invocation = try Invocation(arguments)
            if invocation.command.name == "explain" { _ = try Explain.request(invocation) }
            if invocation.command.name == "help" { _ = try Help.text(for: invocation.operands.first) }
        } catch {
            return error
        }
        return nil
    }

    @Test(arguments: [
        ("chekc", "unknown command \"chekc\"; did you mean check?", nil),
        ("frobnicate", "unknown command \"frobnicate\"", nil),
        ("frobnicate --help", "unknown command \"frobnicate\"", nil),
        ("help frobnicate", "unknown command \"frobnicate\"", nil),
        ("--wacth", "unknown option \"--wacth\"; did you mean --watch?", nil),
        ("-x", "unknown option \"-x\"", nil),
        ("--confg=a", "unknown option \"--confg\"; did you mean --config?", nil),
        ("healthcheck --redy", "unknown option \"--redy\"; did you mean --ready?", "healthcheck"),
        ("-c", "-c needs a value: -c FILE", nil),
        ("run --config", "--config needs a value: --config FILE", "run"),
        ("healthcheck --admin", "--admin needs a value: --admin ADDRESS", "healthcheck"),
        ("--watch=yes", "--watch takes no value", nil),
        ("--version=1", "--version takes no value", nil),
        ("explain POST -v", "unknown option \"-v\"", "explain"),
        ("check -t", "unknown option \"-t\"", "check"),
        ("check check", "unexpected argument \"check\" for check", "check"),
        ("status --ready", "--ready is not an option of status; it is an option of healthcheck", "status"),
        ("--ready", "--ready is not an option of run; it is an option of healthcheck", "run"),
        (
            "check --admin unix:/a",
            "--admin is not an option of check; it is an option of verify, reload, upgrade, status, stop, wait, calls, tap, curl, dashboard, healthcheck",
            "check"
        ),
        ("check extra", "unexpected argument \"extra\" for check", "check"),
        ("check reload", "check and reload are both commands; write one of them", "check"),
        ("explain POST", "explain needs PATH, for example \(UsageErrorTests.example)", "explain"),
        ("explain", "explain needs METHOD and PATH, for example \(UsageErrorTests.example)", "explain"),
        ("explain POST /a b", "unexpected argument \"b\" for explain", "explain"),
        ("explain P@ /a", "\"P@\" is not a valid method; write GET or POST, for example", "explain"),
        ("explain GET a", "\"a\" is not a valid path; write /pkg.Service/Method, for example", "explain"),
        ("explain GET /a -H b", "\"b\" is not a valid header; write 'name: value'", "explain"),
        ("call a/b --protocol rest", "--protocol cannot be \"rest\"; write connect, grpc or grpc-web", "call"),
        ("test a.yaml -o curl", "--output cannot be \"curl\"; write text or json", "test"),
        ("calls --code unavailble", "unknown code \"unavailble\"; did you mean unavailable?", "calls"),
        ("run -- a", "run takes no arguments after --", "run"),
        ("exec", "exec needs -- COMMAND [ARGUMENT...]", "exec"),
        ("exec --", "exec needs -- COMMAND [ARGUMENT...]", "exec"),
        ("exec a", "unexpected argument \"a\" for exec", "exec"),
        ("exec --wait", "--wait needs a value: --wait TIME", "exec"),
        ("exec --own-stdout=yes -- a", "--own-stdout takes no value", "exec"),
        ("stop --wait=1s", "--wait takes no value", "stop"),
        ("stop --wait 1s", "unexpected argument \"1s\" for stop", "stop"),
        ("run --wait 1s", "--wait is not an option of run; it is an option of exec", "run"),
        ("--wait stop", "--wait is not an option of run; it is an option of exec", "run"),
    ])
    func `a usage error names the mistake`(line: String, message: String, command: String?) {
        #expect(error(line.split(separator: " ").map(String.init)) == UsageError(message, command: command))
    }

    private static let example = "martlet explain POST /shop.v1.OrderService/Get -H 'x-tenant: a' -d '{}'"

    @Test func `a usage error ends with the help to read`() {
        #expect(error(["frobnicate"])?.text == "martlet: unknown command \"frobnicate\"\nSee martlet --help.")
        #expect(error(["check", "extra"])?.text.hasSuffix("\nSee martlet check --help.") == true)
    }
}

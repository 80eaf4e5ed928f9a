import Testing

/// Who asks a caller for the body that it sends only after `100 Continue`.
@Suite struct HeldHeadTests {
    private static let asked = "HTTP/1.1 100 Continue\r\n\r\n"

    private func gate(_ options: String) -> String {
        plain + "\ninterceptors: [{name: a, gate: {\(options)}}]\n"
    }

    private func head(_ path: String, _ type: String) -> String {
        http("POST \(path) HTTP/1.1", "host: a", "content-type: \(type)", "expect: 100-continue", "content-length: 2")
    }

    /// A gate that may hold the head for the body, and a request whose body comes to it.
    private static let waiting = [
        ("hold: [request head]", "/pkg.Service/Say", "application/json"),
        ("hold: [request head], sees: [request head, request message]", "/pkg.Service/Say", "application/json"),
        ("hold: [request head], sees: [request head, request end]", "/pkg.Service/Say", "application/json"),
        ("hold: [request head], sees: [request head, request end]", "/file", "text/plain"),
        ("hold: [request head]", "/file", "text/plain"),
    ]

    @Test(arguments: waiting)
    func `a head that may wait for its body is asked for it`(_ options: String, _ path: String, _ type: String) {
        runProxy(gate(options)) { harness in
            let caller = harness.caller()
            caller.send(head(path, type))
            caller.expect(Self.asked)
            caller.send("{}")
            harness.settle()
            harness.gates["a"].releaseAll()
            #expect(!harness.upstream().accept().head().contains("expect:"))
            caller.expectNothing()
        }
    }

    /// A gate that holds the head for another reason, and whether the head goes on without the body then.
    private static let other = [
        ("hold: [request head], serial: true", "application/json", false),
        ("hold: [request head], sees: [request head]", "application/json", true),
        ("hold: [request head], sees: [request head, response head]", "application/json", true),
        ("hold: [request head], sees: [request head]", "text/plain", true),
        ("hold: [request head], sees: [request head]", "application/grpc-web", true),
    ]

    @Test(arguments: other)
    func `a head that waits for something else is not`(_ options: String, _ type: String, _ isPassed: Bool) {
        runProxy(gate(options)) { harness in
            let caller = harness.caller()
            caller.send(head("/pkg.Service/Say", type))
            caller.expectNothing()
            harness.gates["a"].release()
            if isPassed {
                let upstream = harness.upstream().accept()
                #expect(upstream.head().contains("\r\nexpect: 100-continue\r\n"))
                caller.expectNothing()
                upstream.send(Self.asked)
            }
            caller.expect(Self.asked)
        }
    }

    @Test(arguments: [
        "sees: [request message]", "sees: [request message, response message]", "upper: true", "serial: true", "",
    ])
    func `the body of a unary call is asked for behind the chain`(_ options: String) {
        runProxy(gate(options)) { harness in
            let caller = harness.caller()
            caller.send(head("/pkg.Service/Say", "application/json"))
            caller.expect(Self.asked)
            harness.upstream().expectNobody()
            caller.send("{}")
            #expect(!harness.upstream().accept().head().contains("expect:"))
            caller.expectNothing()
        }
    }
}

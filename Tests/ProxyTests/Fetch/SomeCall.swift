import Configuration
import Documents
import Events
import HTTP
import Interceptors
import RPC
import Testing

@testable import Proxy

/// A call that has come and goes nowhere, for what looks at calls.
final class SomeCall {
    let call: Call
    private let worker: Worker

    /// A POST of `/pkg.Service/Look`, or of another target, with these headers, from user 7.
    init(_ headers: [(String, String)], target: String = "/pkg.Service/Look?q=1") {
        let diagnostics = Diagnostics()
        let yaml = "listen: 127.0.0.1:1\nupstream: http://127.0.0.1:2\n"
        let plan = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
        let settings = plan.settings
        worker = Worker(
            loop: EventLoop(),
            lineWriters: nil,
            network: SystemNetwork(),
            destination: Destination.rehearsal
        )
        worker.use(plan, number: 1, routes: RouteTable(settings.routes), tokens: [:])
        let head = HTTPHead()
        head.setMethod(Array("POST".utf8).span)
        head.setTarget(Array(target.utf8).span)
        head.setAuthority(Array("app:80".utf8).span)
        for (name, value) in headers { head.add(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        let service = CallerService(settings.listeners[0], name: "listener", worker: worker)
        let peer = Peer(address: nil, credentials: PeerCredentials(uid: 7, gid: 8, pid: 9))
        call = Call(ExplainedStream(.http1), head: head, end: true, from: peer, on: service)
    }

    deinit {
        call.finish(code: .canceled, by: .caller)
    }
}

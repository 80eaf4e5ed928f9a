import HTTP2Kit
import RPC
import Testing
import Time

@testable import Proxy
@testable import Types

/// The call of a reflection service, frame by frame.
@Suite struct ReflectionFetchTests {
    private static let configuration = "listen: 127.0.0.1:8080\nupstream: h2c://127.0.0.1:9000\n"
    private static let grpc: Frame.Fields = ["content-type": "application/grpc"]

    /// A fetch from a scripted upstream.
    private final class Script {
        let harness: ProxyHarness
        var results: [Result<ReflectedFiles, ReflectionError>] = []
        private(set) var fetch: ReflectionFetch!
        private(set) var upstream: HTTP2Peer!

        init(_ harness: ProxyHarness) throws {
            self.harness = harness
            let upstream = try #require(harness.worker.generation.upstreams["default"])
            fetch = ReflectionFetch(from: upstream, known: []) { [unowned self] in results.append($0) }
            fetch.start()
            self.upstream = harness.upstream().acceptHTTP2(in: harness)
        }

        var error: ReflectionError? {
            harness.settle()
            guard results.count == 1, case .failure(let error) = results[0] else { return nil }
            return error
        }

        func expectList(_ version: String, stream: Int = 1) {
            let head = upstream.next()
            #expect(head.hasPrefix("\(stream) HEADERS"), "\(head)")
            #expect(head.contains("/grpc.reflection.\(version).ServerReflection/ServerReflectionInfo"), "\(head)")
            #expect(head.contains("content-type: application/grpc"), "\(head)")
            #expect(head.contains("te: trailers"), "\(head)")
            upstream.expect("\(stream) DATA \(envelope(":\0"))")
        }
    }

    private func text(_ bytes: [UInt8]) -> String { ([0] + bytes.count.bigEndianBytes + bytes).latin1 }

    private func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        var message: [UInt8] = []
        message.append(field: UInt64(number), bytes)
        return message
    }

    /// The list with the service of the types that tests know.
    private var list: String { text(field(6, field(1, field(1, Array("pkg.Service".utf8))))) }
    /// The file of that service.
    private var files: String { text(field(4, field(1, Array(TestTypes.bytes.dropFirst(3))))) }

    private func run(_ script: (Script) throws -> Void) throws {
        try runProxy(Self.configuration) { harness in
            let own = try Script(harness)
            try script(own)
            own.fetch.cancel()
        }
    }

    @Test func `the files of all services are fetched`() throws {
        try run { script in
            script.expectList("v1")
            script.upstream.send(.response(1, 200, Self.grpc), .data(1, list))
            script.upstream.expect("1 DATA \(text(field(4, Array("pkg.Service".utf8))))")
            for byte in files.unicodeScalars { script.upstream.send(.data(1, String(byte))) }
            script.harness.settle()
            #expect(script.results.count == 1)
            let files = try #require(script.results.first).get().files
            #expect(files.map(\.name) == ["pkg.proto"])
        }
    }

    @Test(
        arguments: [
            (200, ["content-type": "application/grpc", "grpc-status": "12"]), (404, ["content-type": "text/plain"]),
            (404, [:]),
        ] as [(Int, Frame.Fields)]
    )
    func `a server without v1 is asked by v1alpha`(_ status: Int, _ fields: Frame.Fields) throws {
        try run { script in
            script.expectList("v1")
            script.upstream.send(.response(1, status, fields, end: true))
            let reset = script.upstream.next()
            #expect(reset.hasPrefix("1 RST_STREAM"), "\(reset)")
            script.expectList("v1alpha", stream: 3)
            script.upstream.send(.response(3, status, fields, end: true))
            #expect(script.error == .unimplemented)
        }
    }

    @Test func `a status after the head ends it, too`() throws {
        try run { script in
            script.expectList("v1")
            let end: Frame.Fields = ["grpc-status": "7", "grpc-message": "not%20you"]
            script.upstream.send(.response(1, 200, Self.grpc), .headers(1, end, end: true))
            #expect(script.error == .ended(.permissionDenied, "not you"))
        }
    }

    @Test(
        arguments: [
            ([.response(1, 200, grpc), .headers(1, ["grpc-status": "0"], end: true)], .endedEarly),
            ([.response(1, 200, grpc, end: true)], .endedEarly),
            ([.response(1, 503, [:], end: true)], .notGRPC("its HTTP status is 503")),
            ([.response(1, 200, ["content-type": "text/html"])], .notGRPC("its content type is text/html")),
            ([.response(1, 200, [:])], .notGRPC("it has no content type")),
            ([.response(1, 200, grpc), .data(1, "\u{1}\0\0\0\0")], .notGRPC("a message is compressed")),
            ([.response(1, 200, grpc), .data(1, "\0\u{ff}\u{ff}\u{ff}\u{ff}")], .tooLarge),
            ([.response(1, 200, grpc), .data(1, "\0\0\0\0\u{1}\u{ff}")], .malformed),
            ([.response(1, 200, grpc), .data(1, "\0\0\0\0\0")], .unexpected),
        ] as [([Frame], ReflectionError)]
    )
    func `each bad response has its error`(_ frames: [Frame], _ error: ReflectionError) throws {
        try run { script in
            script.expectList("v1")
            for frame in frames { script.upstream.send(frame) }
            #expect(script.error == error)
        }
    }

    @Test func `a server that is silent is waited for ten seconds in all`() throws {
        try run { script in
            script.expectList("v1")
            script.harness.pass(6 * .second)
            script.upstream.send(.response(1, 200, ["grpc-status": "12"], end: true))
            script.harness.settle()
            script.harness.pass(3 * .second)
            #expect(script.results.isEmpty)
            script.harness.pass(2 * .second)
            #expect(script.error == .timeout)
        }
    }

    @Test func `a reset of the stream is an error`() throws {
        try run { script in
            script.expectList("v1")
            script.upstream.send(.reset(1, .calm))
            guard case .connection(let text)? = script.error else {
                Issue.record("no error of a connection")
                return
            }
            #expect(text.hasPrefix("upstream default: the stream was reset"), "\(text)")
        }
    }

    @Test func `nobody is told of a fetch that is cancelled`() throws {
        try run { script in
            script.expectList("v1")
            script.fetch.cancel()
            #expect(script.upstream.next().hasPrefix("1 RST_STREAM"))
            script.harness.pass(20 * .second)
            #expect(script.results.isEmpty)
        }
    }
}

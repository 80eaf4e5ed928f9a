import HTTP
import HTTP2Kit
import Testing

/// The fields that go into the HPACK table of a connection, where later requests of other callers refer to them.
@Suite struct HTTP2SharedTableTests {
    typealias Field = (name: String, value: String)

    /// Returns the block of the last head that went to the peer.
    private func block(_ frames: [Frame]) -> [UInt8] { frames.last { $0.kind == .headers }?.payload ?? [] }

    /// Returns whether a second request refers to the first one's field instead of writing it again.
    private func indexes(_ field: Field) -> Bool {
        let upstream = HTTP2Upstream()
        let blocks = (0..<2).map { _ in
            let head = Message.request()
            head.add(FieldName(field.name), field.value.bytes.span)
            upstream.opens().stream?.send(head: head, end: true)
            _ = upstream.receive()
            return block(upstream.frames)
        }
        return blocks[1].count < blocks[0].count
    }

    @Test(arguments: [
        Field("grpc-trace-bin", "not base64!"), Field("grpc-trace-bin", "AAAA"), Field("x-user-bin", "AAEC"),
        Field("grpc-encoding", "bogus"), Field("grpc-encoding", "gzip "), Field("grpc-accept-encoding", "bogus"),
        Field("grpc-accept-encoding", "gzip,gzip"), Field("grpc-timeout", "never"), Field("grpc-timeout", "1S"),
        Field("content-type", "application/grpc+bogus"), Field("content-type", "text/plain"),
        Field("content-encoding", "bogus"), Field("connect-protocol-version", "2"),
        Field("connect-content-encoding", "bogus"), Field("accept-encoding", "*;q=x"), Field("accept", "*/*"),
        Field("user-agent", "grpc-go/1.70.0"), Field("traceparent", "00-1-2-01"), Field("x-tenant", "a"),
        Field("cookie", "session=0123456789012345678901234567890"), Field("authorization", "Bearer a"),
        Field("priority", "u=1"),
    ])
    func `a value that a caller writes stays out of the table`(field: Field) {
        #expect(!indexes(field))
    }

    @Test(arguments: [
        Field("content-type", "application/grpc"), Field("content-type", "application/grpc+proto"),
        Field("content-type", "application/grpc+json"), Field("content-type", "application/json"),
        Field("content-type", "application/proto"), Field("content-type", "application/connect+proto"),
        Field("content-type", "application/connect+json"), Field("content-type", "application/grpc-web"),
        Field("content-type", "application/grpc-web+proto"), Field("connect-protocol-version", "1"),
        Field("grpc-encoding", "gzip"), Field("connect-content-encoding", "gzip"), Field("content-encoding", "gzip"),
        Field("grpc-accept-encoding", "gzip"), Field("grpc-accept-encoding", "identity,deflate,gzip"),
        Field("grpc-accept-encoding", "identity, deflate, gzip"), Field("accept-encoding", "gzip, deflate, br"),
    ])
    func `a value of a fixed list goes into the table`(field: Field) {
        #expect(indexes(field))
    }

    @Test(arguments: ["OPTIONS", "PROPFIND", "x"])
    func `a method that a caller makes up stays out of the table`(method: String) {
        let upstream = HTTP2Upstream()
        let sizes = (0..<2).map { _ in
            upstream.asks(method)
            _ = upstream.receive()
            return block(upstream.frames).count
        }
        #expect(sizes[0] == sizes[1])
    }

    @Test func `only an authority of the configuration goes into the table`() {
        for isConfigured in [false, true] {
            let upstream = HTTP2Upstream()
            let sizes = (0..<2).map { _ in
                let head = Message.request()
                if isConfigured { head.setAuthority(configured: "orders.example:443".bytes.span) }
                upstream.opens().stream?.send(head: head, end: true)
                _ = upstream.receive()
                return block(upstream.frames).count
            }
            #expect((sizes[1] < sizes[0]) == isConfigured)
        }
    }

    @Test func `an authority that replaces the configured one stays out of the table`() {
        let upstream = HTTP2Upstream()
        let sizes = (0..<2).map { _ in
            let head = Message.request()
            head.setAuthority(configured: "orders.example:443".bytes.span)
            head.setAuthority("tenant.example:443".bytes.span)
            upstream.opens().stream?.send(head: head, end: true)
            _ = upstream.receive()
            return block(upstream.frames).count
        }
        #expect(sizes[0] == sizes[1])
    }

    @Test(arguments: ["x-api-key", "x-environment", "cookie"])
    func `a value that the configuration gives to every request goes into the table`(name: String) {
        let (name, value) = (FieldName(name), "Bearer 0123456789abcdef0123456789abcdef".bytes)
        let changes: [(HTTPHead) -> Void] = [
            { _ in }, { $0.set(name, value.span) }, { $0.setValue(at: $0.count - 1, value.span) },
        ]
        for (number, change) in changes.enumerated() {
            let upstream = HTTP2Upstream()
            let sizes = (0..<2).map { _ in
                let head = Message.request()
                head.add(name, "a caller's".bytes.span)
                head.set(name, configured: value.span)
                change(head)
                upstream.opens().stream?.send(head: head, end: true)
                _ = upstream.receive()
                return block(upstream.frames).count
            }
            // Whoever writes it after that is no configuration.
            #expect((sizes[1] < sizes[0]) == (number == 0))
        }
    }

    @Test func `request trailers stay out of the table`() {
        let upstream = HTTP2Upstream()
        let sizes = (0..<2).map { _ in
            let stream = upstream.opens().stream
            stream?.send(head: Message.request(), end: false)
            _ = upstream.receive()
            stream?.sendEnd(trailers: Message.trailers(["x-check-bin": "not base64!"]))
            _ = upstream.receive()
            return block(upstream.frames).count
        }
        #expect(sizes[0] == sizes[1])
    }

    @Test func `the response to a caller may refer to earlier responses to it`() {
        let caller = HTTP2Caller()
        caller.whenOpened = { user, _ in user.whenEnd = { $0.response(200, ["x-version": "2026-11-28"]) } }
        let sizes = [1, 3].map { stream in
            caller.sends(.request(stream, end: true))
            _ = caller.receive()
            return block(caller.frames).count
        }
        #expect(sizes[1] < sizes[0])
    }
}

import Bytes
import COpenSSL
import Testing

@testable import TLS

/// What goes over a secured connection.
@Suite struct SessionTests {
    private let authority = TestAuthority()

    private func pair(_ change: (inout TLSClientContext.Options) throws -> Void = { _ in }) throws -> Pair {
        try Pair(client(trusting: authority, change: change), server(authority.issue("DNS:a.example")))
    }

    /// A client and a server that have sent nothing yet.
    private func ends() throws -> (End, End) {
        let queues = (ByteQueue(), ByteQueue())
        let client = try client(trusting: authority)
        let server = try server(authority.issue("DNS:a.example"))
        return (
            End(TLSSession(client, resuming: TLSResumption(), output: queues.0), queues.0),
            End(TLSSession(server, output: queues.1), queues.1)
        )
    }

    @Test func `both ends read what the other has sent`() throws {
        let pair = try pair()
        pair.client.send("ping")
        pair.server.send("pong")
        pair.move()
        #expect(pair.server.text == "ping")
        #expect(pair.client.text == "pong")
        #expect(!pair.client.sent.starts(with: Array("ping".utf8)))
    }

    @Test(arguments: [1, 2, 7, 100, 1400])
    func `it does not matter how the bytes are cut`(_ cut: Int) throws {
        let ends = try ends()
        func move(_ from: End, _ to: End) {
            var rest = from.sendOutput()[...]
            while !rest.isEmpty {
                to.receive(Array(rest.prefix(cut)))
                rest = rest.dropFirst(cut)
            }
        }
        ends.0.session.start()
        for _ in 0..<4 {
            move(ends.0, ends.1)
            move(ends.1, ends.0)
        }
        #expect(ends.0.session.isEstablished && ends.1.session.isEstablished)
        let body = String(repeating: "0123456789", count: 5000)
        ends.0.send(body)
        move(ends.0, ends.1)
        #expect(ends.1.text == body)
    }

    @Test func `what arrives with the end of the handshake is read with it`() throws {
        let ends = try ends()
        ends.0.session.start()
        ends.1.receive(ends.0.sendOutput())
        ends.0.receive(ends.1.sendOutput())
        ends.0.send("early")
        ends.1.receive(ends.0.sendOutput())
        #expect(ends.1.text == "early")
    }

    @Test func `what is larger than a record goes in several`() throws {
        let pair = try pair()
        let body = String(repeating: "x", count: 3 * TLSSession.recordSize + 1)
        pair.client.send(body)
        pair.move()
        #expect(pair.server.text == body)
    }

    @Test func `the end is reported, and nothing else is an end`() throws {
        let pair = try pair()
        pair.client.send("all")
        pair.move()
        #expect(!pair.server.session.hasEnded)
        pair.client.session.end()
        pair.client.session.end()
        pair.move()
        #expect(pair.server.session.hasEnded)
        #expect(pair.server.session.error == nil)
    }

    @Test func `a changed byte ends the connection`() throws {
        let pair = try pair()
        pair.client.send("ping")
        var bytes = pair.client.sendOutput()
        bytes[bytes.count - 1] ^= 1
        pair.server.receive(bytes)
        #expect(pair.server.text == "")
        #expect(pair.server.session.error == .malformed("decryption failed or bad record mac"))
        #expect(!pair.server.output.isEmpty, "no alert")
    }

    @Test func `clear text is no handshake`() throws {
        let queue = ByteQueue()
        let session = try TLSSession(server(authority.issue("DNS:a.example")), output: queue)
        End(session, queue).receive(Array("GET / HTTP/1.1\r\nhost: a\r\n\r\n".utf8))
        #expect(session.error == .malformed("the peer does not speak TLS"))
    }

    @Test func `a connection that ends in the handshake is not secured`() throws {
        let queue = ByteQueue()
        let session = try TLSSession(client(trusting: authority), resuming: TLSResumption(), output: queue)
        session.start()
        session.receiveEnd()
        #expect(session.error == .closed)
    }

    @Test(arguments: [
        (["h2", "http/1.1"], "h2"), (["http/1.1", "h2"], "h2"), (["http/1.1"], "http/1.1"), ([], nil),
    ])
    func `the server chooses the protocol that it likes best`(_ offered: [String], _ chosen: String?) throws {
        let pair = try Pair(
            client(trusting: authority, protocols: offered),
            server(authority.issue("DNS:a.example"))
        )
        #expect(pair.client.session.negotiatedProtocol == chosen)
        #expect(pair.server.session.negotiatedProtocol == chosen)
    }

    @Test func `no protocol in common is no connection`() throws {
        let pair = try Pair(
            client(trusting: authority, protocols: ["spdy/1"]),
            server(authority.issue("DNS:a.example"))
        )
        #expect(pair.client.session.error == .noCommonProtocol)
    }

    @Test func `the last session is resumed, and removed by the next context`() throws {
        let (mine, other) = (TLSResumption(), authority.issue("DNS:a.example"))
        let client = try client(trusting: authority)
        let first = try server(other)
        #expect(!Pair(client, first, resuming: mine).client.session.isResumed)
        #expect(!mine.isEmpty)
        for _ in 0..<3 {
            let again = Pair(client, first, resuming: mine)
            #expect(again.client.session.isResumed && again.server.session.isResumed)
        }
        #expect(!Pair(client, try server(other), resuming: mine).client.session.isResumed)
    }

    @Test func `a version that is too old is rejected by either end`() throws {
        let issued = authority.issue("DNS:a.example")
        let (strict, old) = (try client(trusting: authority) { $0.minimum = .tls13 }, try client(trusting: authority))
        unsafe SSL_CTX_ctrl(old.context.raw, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        #expect(try Pair(old, server(issued)).client.session.isEstablished)
        let rejected = try Pair(old, server(issued, minimum: .tls13))
        #expect(rejected.client.session.error == .alert("protocol version"))
        let oldServer = try server(issued)
        unsafe SSL_CTX_ctrl(oldServer.context.raw, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        #expect(Pair(strict, oldServer).client.session.error == .alert("protocol version"))
    }

    // MARK: Messages of the handshake, after it

    private func sendNewKeys(_ count: Int, _ from: End) {
        for _ in 0..<count {
            unsafe _ = SSL_key_update(from.session.ssl, SSL_KEY_UPDATE_NOT_REQUESTED)
            unsafe _ = SSL_do_handshake(from.session.ssl)
        }
    }

    @Test func `new keys without end, and the session fails`() throws {
        let pair = try pair()
        sendNewKeys(90, pair.client)
        pair.client.send("ping")
        pair.move()
        #expect(pair.server.text == "ping" && pair.server.session.error == nil)
        pair.server.session.allowedMessages += 20
        sendNewKeys(20, pair.client)
        pair.move()
        #expect(pair.server.session.error == nil)
        sendNewKeys(50, pair.client)
        pair.client.send("pong")
        pair.move()
        #expect(
            pair.server.session.error == .malformed("the peer sent too many handshake messages")
        )
        #expect(pair.server.text == "ping")
    }

    @Test func `attempts at another handshake are rejected, and without end the session fails`() throws {
        let ends = try ends()
        let ssl = unsafe ends.1.session.ssl
        unsafe _ = SSL_ctrl(ssl, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        ends.0.session.start()
        for _ in 0..<3 {
            ends.1.receive(ends.0.sendOutput())
            ends.0.receive(ends.1.sendOutput())
        }
        #expect(ends.0.session.isEstablished && ends.1.session.isEstablished)
        unsafe _ = SSL_clear_options(ssl, UInt64(1) << 30)
        for attempt in 1...100 {
            unsafe _ = SSL_renegotiate(ssl)
            unsafe _ = SSL_do_handshake(ssl)
            ends.0.receive(ends.1.sendOutput())
            if attempt == 10 { #expect(ends.0.session.error == nil) }
        }
        #expect(
            ends.0.session.error == .malformed("the peer sent too many handshake messages")
        )
        // Each was answered by an alert of some thirty bytes, and none any more.
        #expect(ends.0.sendOutput().count < 100 * 40)
    }
}

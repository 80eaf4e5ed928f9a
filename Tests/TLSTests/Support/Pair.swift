import Bytes

@testable import TLS

/// One end of a connection in memory.
final class End {
    let session: TLSSession
    let output: ByteQueue
    /// What has come, decrypted.
    let received = ByteQueue()
    /// Everything that this end has sent, encrypted.
    private(set) var sent: [UInt8] = []

    init(_ session: TLSSession, _ output: ByteQueue) {
        self.session = session
        self.output = output
    }

    func receive(_ bytes: [UInt8]) {
        session.receive(bytes.span, into: received, room: bytes.count + TLSSession.recordSize)
    }

    func sendOutput() -> [UInt8] {
        let output = output
        let bytes = output.readable.array
        output.removeAll()
        sent += bytes
        return bytes
    }

    func send(_ text: String) {
        session.send(Array(text.utf8).span)
    }

    var text: String {
        let received = received
        return received.readable.string
    }
}

/// A client and a server, and the wire between them.
final class Pair {
    let client: End
    let server: End
    /// How many bytes go over at a time.
    var cut = Int.max

    init(_ client: TLSClientContext, _ server: TLSServerContext, resuming: TLSResumption = TLSResumption()) {
        let queues = (ByteQueue(), ByteQueue())
        self.client = End(TLSSession(client, resuming: resuming, output: queues.0), queues.0)
        self.server = End(TLSSession(server, output: queues.1), queues.1)
        self.client.session.start()
        move()
    }

    /// Moves bytes until none are left.
    func move() {
        while !client.output.isEmpty || !server.output.isEmpty {
            carry(client.sendOutput(), to: server)
            carry(server.sendOutput(), to: client)
        }
    }

    private func carry(_ bytes: [UInt8], to end: End) {
        var rest = bytes[...]
        while !rest.isEmpty {
            end.receive(Array(rest.prefix(cut)))
            rest = rest.dropFirst(cut)
        }
    }
}

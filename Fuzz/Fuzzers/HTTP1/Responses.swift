internal import Bytes

/// Responses as upstreams send them, to GET and to HEAD: what we take, llhttp takes too, and both read the same.
enum Responses {
    static func run(_ input: Span<UInt8>) {
        compare(input, "GET", .response)
        compare(input, "HEAD", .responseToHead)
    }

    private static func compare(_ input: Span<UInt8>, _ method: StaticString, _ kind: Oracle.Kind) {
        let ours = Cuts.same("responses read") { cuts in
            var reading = ResponseExchange.read(input, to: method, cuts)
            // Bytes behind a response end the connection, and those that come later find it free for a moment.
            if !reading.messages.isEmpty { reading.messages[reading.messages.count - 1].persists = false }
            return reading
        }
        let persists = ResponseExchange.read(input, to: method, .none).messages.last?.persists ?? false
        let oracle = Oracle(kind, input)
        for (index, message) in ours.messages.enumerated() {
            guard index < oracle.messages.count else {
                fail("llhttp does not take \(message): \(oracle.error ?? "no error")")
            }
            let theirs = oracle.messages[index].forwarded
            demandSame(comparable(message.head), comparable(theirs.head), "ours and llhttp's head of response \(index)")
            guard message.status >= 200, message.isWhole else { continue }
            if !theirs.isWhole, oracle.error != nil, oracle.isInTrailers || oracle.isInExtension { return }
            demand(theirs.isWhole || oracle.error == nil, "llhttp rejects a body: \(oracle.error ?? "")")
            demandSame(message.body, theirs.body, "ours and llhttp's body to \(method)")
            demandSame(message.trailers, theirs.trailers, "ours and llhttp's trailers")
            demand(!persists || theirs.persists, "we keep a connection that llhttp closes: \(message)")
        }
    }

    /// What both can tell: an interim response has no length that counts.
    private static func comparable(_ head: HTTP1Message) -> HTTP1Message {
        var head = head
        if head.status < 200 { head.length = nil }
        return head
    }
}

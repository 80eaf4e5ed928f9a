internal import Bytes

/// Requests as callers send them: what we take, llhttp takes too, and both read the same.
///
/// That we reject more is meant. What we take and llhttp does not is listed in `isExcused`, and argued in Fuzz/README.md.
enum Requests {
    static func run(_ input: Span<UInt8>) {
        let ours = Cuts.same("requests read") { RequestReader.read(input, $0) }
        guard !ours.messages.isEmpty else { return }
        let oracle = Oracle(.requests, input)
        for (index, message) in ours.messages.enumerated() {
            guard index < oracle.messages.count else {
                demand(isExcused(message, oracle), "llhttp does not take \(message): \(oracle.error ?? "no error")")
                return
            }
            let theirs = oracle.messages[index].forwardedRequest
            demandSame(message.head, theirs.head, "ours and llhttp's head of request \(index)")
            guard compareBodies(message, theirs, ours, oracle) else { return }
        }
        guard let last = ours.messages.last, last.isWhole, last.persists, !ours.isRejected else { return }
        demandSame(ours.messages.count, oracle.messages.count, "the number of requests")
    }

    /// Compares what follows the head, and says whether there is more to be compared.
    private static func compareBodies(
        _ ours: HTTP1Message,
        _ theirs: HTTP1Message,
        _ reading: HTTP1Reading,
        _ oracle: Oracle
    ) -> Bool {
        guard ours.isWhole else {
            guard !reading.isRejected, oracle.error == nil else { return false }
            demand(!theirs.isWhole, "llhttp takes for whole what we do not: \(ours)")
            demandSame(ours.body, theirs.body, "ours and llhttp's unfinished body")
            return false
        }
        if !theirs.isWhole, oracle.error != nil, oracle.isInTrailers || oracle.isInExtension { return false }
        demandSame(ours.isWhole, theirs.isWhole, "both are whole (llhttp: \(oracle.error ?? "no error"))")
        demandSame(ours.body, theirs.body, "ours and llhttp's body")
        demandSame(ours.trailers, theirs.trailers, "ours and llhttp's trailers")
        demand(!ours.persists || theirs.persists, "we keep a connection that llhttp closes: \(ours)")
        return true
    }

    /// Whether we may take a request that llhttp rejects.
    private static func isExcused(_ message: HTTP1Message, _ oracle: Oracle) -> Bool {
        // llhttp knows a list of methods, and those of RTSP in another version.
        let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"]
        return !known.contains(message.method)
    }
}

/// A body in chunks, behind a head that is always the same.
enum Chunks {
    private static let head = Array("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n".utf8)

    static func run(_ input: Span<UInt8>) {
        Requests.run((head + input.array).span)
    }
}

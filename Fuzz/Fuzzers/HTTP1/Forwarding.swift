/// What a message becomes on its way through a proxy, by the letter of the standards and not by our code: `Host`, what frames
/// the body and what belongs to one connection are no fields any more.
extension HTTP1Message {
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization",
        "transfer-encoding", "te", "trailer", "upgrade", "http2-settings", "content-length",
    ]
    private static let notInTrailers: Set<String> = [
        "host", "content-type", "content-encoding", "expect", "authorization", "cookie", "set-cookie",
    ]

    /// The request as it is forwarded.
    var forwardedRequest: HTTP1Message {
        var request = forwarded
        request.authority = fields.first { $0.name == "host" }?.value ?? ""
        request.fields.removeAll { $0.name == "host" || $0.name == "expect" }
        request.splitTarget()
        return request
    }

    /// The response, or the interim one, as it is forwarded.
    var forwarded: HTTP1Message {
        var message = self
        let dropped = Self.hopByHop.union(namedByConnection)
        message.fields.removeAll { dropped.contains($0.name) }
        message.trailers.removeAll { Self.hopByHop.contains($0.name) || Self.notInTrailers.contains($0.name) }
        return message
    }

    /// The fields that `Connection` names; where it only tells what becomes of the connection, it names none.
    private var namedByConnection: Set<String> {
        let lines = fields.filter { $0.name == "connection" }
            .map { $0.value.split(separator: ",").map { String($0).withoutBlanks.smallASCII } }
        let naming = lines.filter { $0.contains { !["close", "keep-alive", ""].contains($0) } }
        return Set(naming.joined())
    }

    /// Takes the authority off an absolute target.
    private mutating func splitTarget() {
        guard let scheme = ["http://", "https://"].first(where: target.smallASCII.hasPrefix) else { return }
        let rest = target.dropFirst(scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        authority = String(rest[..<end])
        target = String(rest[end...])
        if target.isEmpty, method == "OPTIONS" { target = "*" }
        if target.first != "/", target != "*" { target = "/" + target }
    }
}

internal import Bytes

/// The target of a request (RFC 9112 §3.2) and the host it is for.
enum HTTP1Target {
    /// Reads an origin-form, absolute-form or asterisk-form target into the head.
    ///
    /// - Returns: The default port of an absolute target's scheme; nil if the target did not set the authority.
    static func parse(_ target: Span<UInt8>, into head: HTTPHead) throws(HTTPError) -> Int? {
        try check(target)
        if target[0] == UInt8(ascii: "/") {
            head.setTarget(target)
            return nil
        }
        if target.equals("*") {
            guard head.method.equals("OPTIONS") else { throw .target }
            head.setTarget(target)
            return nil
        }
        return try parseAbsolute(target, into: head)
    }

    /// Rejects a target with a byte that cannot be in one.
    ///
    /// The query may have `"`, `<`, `>` and `\`, which browsers and curl send there as they are. In a path, servers read `\` as
    /// a slash.
    static func check(_ target: Span<UInt8>) throws(HTTPError) {
        guard !target.areAll({ $0.isTarget }) else { return }
        var index = 0
        while index < target.count, unsafe HTTP1Grammar.isTarget(target[unchecked: index]) { index += 1 }
        guard index < target.count else { return }
        let query = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
        for index in index..<target.count where index < query || !HTTP1Grammar.isQuery(target[index]) {
            throw target[index] == 0 ? .nullByte : .target
        }
    }

    private static func parseAbsolute(_ target: Span<UInt8>, into head: HTTPHead) throws(HTTPError) -> Int {
        let scheme = target.count >= 8 && target.extracting(0..<8).equalsIgnoringCase("https://") ? 8 : 7
        guard scheme == 8 || target.count >= 7 && target.extracting(0..<7).equalsIgnoringCase("http://") else {
            throw .target
        }
        var end = scheme
        while end < target.count, target[end] != UInt8(ascii: "/"), target[end] != UInt8(ascii: "?") { end += 1 }
        let authority = target.extracting(scheme..<end)
        try checkHost(authority)
        head.setAuthority(authority)
        setTarget(target.extracting(end..<target.count), of: head)
        return scheme == 8 ? 443 : 80
    }

    /// Sets the target of a head to what stands behind an authority.
    private static func setTarget(_ rest: Span<UInt8>, of head: HTTPHead) {
        if rest.count > 0, rest[0] == UInt8(ascii: "/") { return head.setTarget(rest) }
        // What asks about the server as a whole has no path (RFC 9112 §3.2.4).
        if rest.count == 0, head.method.equals("OPTIONS") { return head.setTarget([UInt8(ascii: "*")].span) }
        head.setTarget(([UInt8(ascii: "/")] + rest.array).span)
    }

    /// Whether a host is a name of letters, digits, dots and hyphens with at most a port, as nearly all are.
    private static func isPlain(_ host: Span<UInt8>) -> Bool {
        var (end, port, power) = (host.count, 0, 1)
        while end > 0, host.count - end < 5 {
            let digit = unsafe host[unchecked: end - 1] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            port += power * Int(digit)
            power *= 10
            end -= 1
        }
        if end > 0, unsafe host[unchecked: end - 1] == UInt8(ascii: ":") {
            guard port <= 65535 else { return false }
            end -= 1
        } else {
            end = host.count
        }
        let name = host.extracting(0..<end)
        if name.areAll({ $0.isName }) { return true }
        for index in 0..<end where unsafe !HTTP1Grammar.isName(name[unchecked: index]) { return false }
        return end > 0
    }

    /// Rejects what is not a host with an optional port (RFC 9110 §7.2).
    static func checkHost(_ host: Span<UInt8>) throws(HTTPError) {
        guard host.count > 0 else { throw .invalidHost }
        guard !isPlain(host) else { return }
        for index in 0..<host.count where unsafe !HTTP1Grammar.isHost(host[unchecked: index]) { throw .invalidHost }
        let isBracketed = host[0] == UInt8(ascii: "[")
        var end = host.count
        if isBracketed {
            guard let bracket = host.firstIndex(of: UInt8(ascii: "]")) else { throw .invalidHost }
            end = bracket + 1
        } else if let colon = host.firstIndex(of: UInt8(ascii: ":")) {
            end = colon
        }
        let name = isBracketed ? host.extracting(1..<end - 1) : host.extracting(0..<end)
        guard name.count > 0, isBracketed || !name.hasNeedlessEscape, name.firstIndex(of: UInt8(ascii: "[")) == nil,
            name.firstIndex(of: UInt8(ascii: "]")) == nil
        else { throw .invalidHost }
        guard end < host.count else { return }
        let port = host.extracting(end..<host.count)
        guard port[0] == UInt8(ascii: ":"), port.count == 1 || port.extracting(1..<port.count).decimal ?? .max <= 65535
        else { throw .invalidHost }
    }
}

extension Span<UInt8> {
    /// Whether there is a broken escape, or one that could hide what the host is.
    ///
    /// Others have their use: gRPC has the path of a Unix socket as the host, with `%2F` for each slash.
    fileprivate var hasNeedlessEscape: Bool {
        for index in indices where self[index] == UInt8(ascii: "%") {
            guard let byte = escapedByte(at: index), byte == UInt8(ascii: "/") || byte >= 0x80 else { return true }
        }
        return false
    }
}

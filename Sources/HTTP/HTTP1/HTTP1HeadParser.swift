internal import Bytes

/// Reads heads and trailer sections (RFC 9112 §2–5), strictly, line by line as they come.
///
/// A line that has not come whole is left to the caller, who gives it again with what follows it.
struct HTTP1HeadParser {
    /// What is being read.
    enum Kind {
        case request, response, trailers
    }

    /// Facts of one head that concern the connection and never get into the fields.
    struct Connection {
        /// The version is 1.0.
        var isOld = false
        /// `Connection: close` was said.
        var close = false
        /// `Connection: keep-alive` was said.
        var keepAlive = false
        /// `Transfer-Encoding: chunked` was said.
        var chunked = false
        /// There was a `Host` field.
        var host = false
        /// The default port of the scheme of an absolute target, which set the authority; nil for another target.
        var targetPort: Int?
    }

    /// The bytes of the lines read so far.
    private(set) var taken: Int
    /// How much of the line that has not come whole is known to have no line feed: it is looked at once, however
    /// small the pieces in which it comes.
    private var searched = 0
    private var fieldLines: Int32 = 0
    /// How many fields `Connection` named, but for those with a meaning of their own.
    private var namedFields: Int32 = 0
    /// The number of protocols that `Upgrade` offers, and how many of them are WebSocket.
    private var offers: (all: Int32, webSocket: Int32) = (0, 0)
    private(set) var connection = Connection()
    private let kind: Kind
    private var atStart: Bool
    private var skippedEmptyLine = false

    /// Begins a head; `taken` bytes of the limit are used up already.
    init(_ kind: Kind, taken: Int = 0) {
        self.kind = kind
        self.taken = taken
        atStart = kind != .trailers
    }

    /// Reads lines from `position` on and moves it behind them.
    ///
    /// - Returns: whether the head is complete.
    mutating func parse(
        _ bytes: Span<UInt8>,
        from position: inout Int,
        into head: HTTPHead,
        within limits: HTTPLimits
    ) throws(HTTPError) -> Bool {
        try parsePlainFields(bytes, from: &position, into: head, within: limits)
        while let lineFeed = bytes.firstIndex(of: 0x0a, from: position + searched) {
            searched = 0
            try count(lineFeed + 1 - position, within: limits)
            guard lineFeed > position, bytes[lineFeed - 1] == 0x0d else { throw .bareLineFeed }
            let line = bytes.extracting(position..<lineFeed - 1)
            position = lineFeed + 1
            if line.count == 0 {
                guard atStart else { return try finish(head) }
                try skipEmptyLine()
            } else if atStart {
                atStart = false
                try kind == .request ? parseRequestLine(line, into: head) : parseStatusLine(line, into: head)
            } else {
                try parseField(line, into: head, within: limits)
            }
            try parsePlainFields(bytes, from: &position, into: head, within: limits)
        }
        searched = bytes.count - position
        guard taken + searched <= limits.head else { throw .headTooLarge }
        // What can never become a first line, such as a greeting of TLS, is not waited for.
        if atStart, searched > 0, bytes[position] != 0x0d, !HTTP1Grammar.isToken(bytes[position]) {
            throw kind == .request ? .requestLine : .statusLine
        }
        return false
    }

    private mutating func count(_ bytes: Int, within limits: HTTPLimits) throws(HTTPError) {
        taken += bytes
        guard taken <= limits.head else { throw .headTooLarge }
    }

    /// One empty line before a request is forgiven (RFC 9112 §2.2); more would be a way to be kept busy for nothing.
    private mutating func skipEmptyLine() throws(HTTPError) {
        guard kind == .request, !skippedEmptyLine else { throw kind == .request ? .requestLine : .statusLine }
        skippedEmptyLine = true
    }

    // MARK: Fields

    /// Reads the lines that need no second look.
    private mutating func parsePlainFields(
        _ bytes: Span<UInt8>,
        from position: inout Int,
        into head: HTTPHead,
        within limits: HTTPLimits
    ) throws(HTTPError) {
        guard !atStart, searched == 0 else { return }
        while let line = HTTP1FieldLine(bytes, from: position, to: head.arena) {
            try count(line.count, within: limits)
            fieldLines += 1
            guard Int(fieldLines) <= limits.fields else { throw .tooManyFields }
            let value = position + line.value.lowerBound..<position + line.value.upperBound
            position += line.count
            let known = head.add(line)
            if known != .other { try note(known, bytes.extracting(value), in: head, within: limits) }
        }
    }

    private mutating func parseField(
        _ line: Span<UInt8>,
        into head: HTTPHead,
        within limits: HTTPLimits
    ) throws(HTTPError) {
        fieldLines += 1
        guard Int(fieldLines) <= limits.fields else { throw .tooManyFields }
        guard !line[0].isSpaceOrTab else { throw .obsoleteFolding }
        var colon = 0
        while colon < line.count, HTTP1Grammar.isToken(unsafe line[unchecked: colon]) { colon += 1 }
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
            throw colon < line.count && line[colon] == 0 ? .nullByte : .fieldName
        }
        var start = colon + 1
        var end = line.count
        while start < end, line[start].isSpaceOrTab { start += 1 }
        while end > start, line[end - 1].isSpaceOrTab { end -= 1 }
        let value = line.extracting(start..<end)
        try check(value)
        head.add(name: line.extracting(0..<colon), value: value)
        let known = head.known(at: head.count - 1)
        guard known != .other else { return }
        try note(known, value, in: head, within: limits)
    }

    private func check(_ value: Span<UInt8>) throws(HTTPError) {
        guard let control = value.firstControl else { return }
        for index in control..<value.count where !HTTP1Grammar.isValue(value[index]) {
            throw HTTP1Grammar.error(of: value[index])
        }
    }

    /// Takes what frames the message, or belongs to the connection, out of the fields.
    private mutating func note(
        _ known: KnownField,
        _ value: Span<UInt8>,
        in head: HTTPHead,
        within limits: HTTPLimits
    ) throws(HTTPError) {
        if kind == .trailers {
            if known.isForbiddenInTrailers { head.removeLast() }
            return
        }
        switch known {
        case .contentLength:
            guard head.contentLength == nil, let length = value.decimal else { throw .contentLength }
            head.contentLength = length
        case .transferEncoding:
            guard !connection.chunked, value.equalsIgnoringCase("chunked") else { throw .transferEncoding }
            connection.chunked = true
        case .host:
            guard kind == .request else { return }
            try noteHost(value, in: head)
        case .connection:
            // A line that names fields stays until all fields are there.
            guard try !namesFields(value, atMost: limits.fields) else { return }
        case .te:
            if value.hasToken("trailers") { head.acceptsTrailers = true }
        case .upgrade:
            noteOffers(value)
        case .expect:
            guard kind == .request else { return }
            guard value.equalsIgnoringCase("100-continue") else { throw .expectation }
            head.expectsContinue = true
        default:
            guard known.isHopByHop else { return }
        }
        head.removeLast()
    }

    private mutating func noteHost(_ value: Span<UInt8>, in head: HTTPHead) throws(HTTPError) {
        guard !connection.host else { throw .severalHosts }
        connection.host = true
        try HTTP1Target.checkHost(value)
        guard let port = connection.targetPort else { return head.setAuthority(value) }
        guard Host.areSame(head.authority, value, defaultPort: port) else { throw .invalidHost }
    }

    /// Counts the protocols that an `Upgrade` line offers.
    private mutating func noteOffers(_ value: Span<UInt8>) {
        value.forEachListItem { item in
            guard item.count > 0 else { return }
            offers.all += 1
            if item.equalsIgnoringCase("websocket") { offers.webSocket += 1 }
        }
    }

    /// Notes what a `Connection` line says, and whether it names fields.
    private mutating func namesFields(_ value: Span<UInt8>, atMost limit: Int) throws(HTTPError) -> Bool {
        let before = namedFields
        value.forEachListItem { item in
            if item.equalsIgnoringCase("close") {
                connection.close = true
            } else if item.equalsIgnoringCase("keep-alive") {
                connection.keepAlive = true
            } else if item.count > 0 {
                namedFields += 1
            }
        }
        // Each name is looked for among all fields: many of each would take long.
        guard Int(namedFields) <= limit else { throw .tooManyFields }
        return namedFields > before
    }

    // MARK: The end

    private mutating func finish(_ head: HTTPHead) throws(HTTPError) -> Bool {
        guard kind != .trailers else { return true }
        if connection.chunked {
            guard head.contentLength == nil else { throw .contentLengthWithTransferEncoding }
            guard !connection.isOld else { throw .transferEncoding }
        }
        if kind == .request, !connection.isOld {
            guard connection.host else { throw .missingHost }
            // An offer can be ignored (RFC 9110 §7.8). But a WebSocket without one is a request that nobody meant.
            guard offers.all == 0 || offers.webSocket < offers.all else { throw .upgrade }
        }
        if namedFields > 0 { head.removeConnection() }
        return true
    }

    // MARK: First lines

    private mutating func parseRequestLine(_ line: Span<UInt8>, into head: HTTPHead) throws(HTTPError) {
        var position = 0
        while position < line.count, HTTP1Grammar.isToken(line[position]) { position += 1 }
        guard position > 0, position < line.count, line[position] == 0x20 else { throw .requestLine }
        let method = line.extracting(0..<position)
        guard let end = line.firstIndex(of: 0x20, from: position + 1), end > position + 1 else { throw .requestLine }
        let version = line.extracting(end + 1..<line.count)
        if version.equals("HTTP/2.0"), method.equals("PRI") { throw .http2Preface }
        connection.isOld = try Self.isOldVersion(version, malformed: .requestLine)
        guard !method.equals("CONNECT") else { throw .connect }
        head.setMethod(method)
        connection.targetPort = try HTTP1Target.parse(line.extracting(position + 1..<end), into: head)
    }

    private mutating func parseStatusLine(_ line: Span<UInt8>, into head: HTTPHead) throws(HTTPError) {
        guard line.count >= 12, line[8] == 0x20 else { throw .statusLine }
        connection.isOld = try Self.isOldVersion(line.extracting(0..<8), malformed: .statusLine)
        guard let status = line.extracting(9..<12).decimal, status >= 100 else { throw .statusLine }
        head.status = status
        guard line.count > 12 else { return }
        guard line[12] == 0x20 else { throw .statusLine }
        let reason = line.extracting(13..<line.count)
        for index in 0..<reason.count where !HTTP1Grammar.isValue(reason[index]) { throw .statusLine }
        head.setReason(reason)
    }

    private static func isOldVersion(_ version: Span<UInt8>, malformed: HTTPError) throws(HTTPError) -> Bool {
        if version.equals("HTTP/1.1") { return false }
        if version.equals("HTTP/1.0") { return true }
        guard version.count == 8, version.hasPrefix("HTTP/"), version[6] == UInt8(ascii: ".") else { throw malformed }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard digits.contains(version[5]), digits.contains(version[7]) else { throw malformed }
        throw .version
    }
}

internal import Bytes
package import Documents
internal import HTTP
package import Protocols
package import Time
internal import Types

/// What came of a call in a rehearsal.
package struct RehearsedCall {
    /// Whether it has ended by itself.
    package let hasEnded: Bool
    /// The HTTP status; 0 if there is no response.
    package let status: Int
    package let headers: [(name: String, value: String)]
    /// The trailers, wherever the protocol of the caller has them.
    package private(set) var trailers: [(name: String, value: String)]
    /// The messages of the response as JSON where that is known, else as they are; the body in plain HTTP.
    package private(set) var messages: [[UInt8]] = []
    /// The typed details of the error.
    package private(set) var details: [RehearsedDetail] = []
    /// What the access log says.
    package let record: JSONValue
    /// The attempts, in order.
    package let attempts: [RehearsedAttempt]
    /// The time that it took, by its own clock.
    package let time: Duration
    /// The interceptors that it has entered.
    package let interceptors: [String]
    /// What `martlet explain` prints of it.
    package let explained: [String]
    private let redactions: Redactions
    /// The types of the messages, if they are known.
    private let methodType: MethodType?
    private let types: TypeSet?
    /// Whether messages of the response are ProtoJSON, and not the body of a REST call.
    private let hasTypedResponse: Bool
    /// The tokens that were given, which are no secrets.
    private let givenTokens: [String]

    init(
        _ entered: EnteredCall,
        hasEnded: Bool,
        record: [UInt8],
        attempts: [RehearsedAttempt],
        time: Duration,
        explained: [String],
        givenTokens: [String]
    ) {
        let stream = entered.stream
        interceptors = entered.interceptors
        redactions = entered.redactions
        (methodType, types) = (entered.codec == .other ? nil : entered.methodType, entered.types?.set)
        hasTypedResponse = entered.rpcProtocol != .http
        self.givenTokens = givenTokens
        (self.hasEnded, self.attempts, self.time, self.explained) = (hasEnded, attempts, time, explained)
        status = stream.status
        headers = Self.texts(stream.fields)
        trailers = Self.texts(stream.trailers)
        self.record = (try? JSON.parse(record)) ?? .null
        read(stream.body, entered)
    }

    /// The upstream that was called; none if none was.
    package var upstream: String? { attemptCount == 0 ? nil : record["upstream"]?.string }

    /// How often the call was tried, be it on a mock of the configuration.
    package var attemptCount: Int { record["attempts"]?.integer ?? 0 }

    /// Whether the value of a header, by its name, or what is at a place of messages, as a JSON Pointer, is never shown.
    package func isRedacted(_ subject: String) -> Bool {
        guard let pointer = JSONPointer(subject), !subject.isEmpty else {
            let name = Array(subject.lowercased().utf8)
            return redactions.contains(name.span)
        }
        return redactions.contains(pointer)
    }

    /// Returns a message in JSON as conditions see it, with its type if that is known.
    package func view(of json: JSONValue, _ direction: Direction) -> MessageView {
        guard let methodType, direction == .request || hasTypedResponse else {
            return MessageView(json, isProtoJSON: true)
        }
        return MessageView(json, methodType.type(direction), types)
    }

    /// A message as it may be shown.
    package func masked(_ message: JSONValue) -> JSONValue { redactions.masked(message) }

    /// A body as it may be shown.
    package func masked(_ body: [UInt8]) -> String {
        guard redactions.hasPointers, !body.isEmpty else { return String(decoding: body, as: UTF8.self) }
        return redactions.masked(body.span).map { String(decoding: $0, as: UTF8.self) } ?? "\(Redactions.mask)"
    }

    /// The value of a header as it may be shown: what the configuration has is secret, what was given is not.
    package func shown(_ value: String, of name: String) -> String {
        let bytes = Array(name.utf8)
        guard !givenTokens.contains(where: { !$0.isEmpty && value.contains($0) }) else { return value }
        return redactions.contains(bytes.span) ? "\(MaskedText.mask)" : MaskedText.masked(value)
    }

    private static func texts(_ fields: [(name: [UInt8], value: [UInt8])]) -> [(name: String, value: String)] {
        fields.map { (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self)) }
    }

    /// Takes the messages and the trailers out of a body.
    private mutating func read(_ body: [UInt8], _ entered: EnteredCall) {
        switch entered.rpcProtocol {
        case .connectUnary, .connectGet:
            trailers += headers.filter { $0.name.hasPrefix("trailer-") }.map {
                (String($0.name.dropFirst(8)), $0.value)
            }
            if !body.isEmpty { messages = [entered.shown(body)] }
            if status != 200 { details = RehearsedDetail.all(inConnect: try? JSON.parse(body), entered.types) }
        case .http: if !body.isEmpty { messages = [body] }
        case .connectStream, .grpc, .grpcWeb, .grpcWebText:
            // A response without messages may have them in its head.
            if body.isEmpty, trailers.isEmpty { trailers = headers }
            for (flags, payload) in ExplainedStream.envelopes(in: body) {
                if flags & 0x80 != 0 {
                    trailers += Self.lines(payload)
                } else if flags & 2 != 0, entered.rpcProtocol == .connectStream {
                    trailers += Self.metadata(payload)
                    let end = try? JSON.parse(payload)
                    details = RehearsedDetail.all(inConnect: end?["error"], entered.types)
                } else {
                    messages.append(entered.shown(payload))
                }
            }
            if details.isEmpty { details = RehearsedDetail.all(in: trailers, entered.types) }
        }
    }

    private static func lines(_ payload: [UInt8]) -> [(name: String, value: String)] {
        String(decoding: payload, as: UTF8.self).split(separator: "\r\n").compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (line[..<colon].lowercased(), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
    }

    private static func metadata(_ payload: [UInt8]) -> [(name: String, value: String)] {
        guard let end = try? JSON.parse(payload), case .object(let members)? = end["metadata"] else { return [] }
        return members.flatMap { member in
            guard case .array(let values) = member.value else { return [(name: String, value: String)]() }
            return values.map { (member.name.lowercased(), $0.string ?? "") }
        }
    }
}

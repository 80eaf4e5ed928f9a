internal import Bytes
internal import Configuration
internal import Documents
internal import HTTP
internal import Protocols
internal import Proxy

/// What tells a recorded request from others: the call, its first message, and the headers that are to count.
struct TapeIdentity: Sendable {
    /// `pkg.Service/Method`, or the HTTP method and the target with its path in the normal form.
    let call: [UInt8]
    let first: TapeMessage?
    /// The codec of its messages, which can be another for callers if the types are known.
    private let codec: Codec
    private let headers: [(name: FieldName, value: [UInt8])]
    let form: TapeForm

    init(_ document: Section, _ form: TapeForm) {
        self.form = form
        codec = document.string("codec") == "proto" ? .proto : document.string("codec") == "json" ? .json : .other
        call = Self.normal(document.string("call"))
        let recorded = document.section("request").map("headers")
        headers = form.headers.map { name in
            let value = recorded.first { FieldName($0.name) == name }?.text ?? ""
            return (name, Array(value.utf8))
        }
        first = document.sections("script").first { $0.has("expect") }.map { TapeMessage($0.section("expect")) }
    }

    /// What is the same for first messages that count as equal to this one; none if several may.
    var firstKey: Int? {
        guard let first else { return TapeKey.none }
        return first.key(ignoring: form.ignored)
    }

    /// Whether a call has the name that was recorded, without what was not to be shown.
    func isOf(_ call: Call) -> Bool { Self.name(of: call) == self.call }

    /// Returns the name of a call, as it is compared with that of a recorded one.
    static func name(of call: Call) -> [UInt8] { normal(call.shownName) }

    /// The name of a call with the path in its normal form: a tape may be written by hand, or cut.
    private static func normal(_ name: String) -> [UInt8] {
        let parts = name.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, parts[1].first == UInt8(ascii: "/") else { return Array(name.utf8) }
        return parts[0] + [UInt8(ascii: " ")] + URLPath.normal(target: Array(parts[1]).span)
    }

    /// What of the head is not as recorded; none if all is.
    func lackOfHead(_ call: Call) -> String? {
        if call.rpcProtocol != .http, codec != .other, call.codec != codec, !call.hasMessageTypes {
            // JSON is there of messages whose types were known when they were recorded.
            let isOpaque = if case .bytes? = first { true } else { false }
            if isOpaque || call.codec == .proto { return "the codec \(codec), as Martlet does not know the types" }
        }
        let request = call.request
        let wrong = headers.first { name, value in
            guard !value.span.equals("***") else { return false }
            guard let index = request.first(name) else { return !value.isEmpty }
            return !request.value(at: index).equals(value)
        }
        return wrong.map { "another header \(String(decoding: $0.name.bytes, as: UTF8.self))" }
    }

    /// What of the first message is not as recorded; none if all is.
    ///
    /// - Parameter context: the call, and the message.
    /// - Returns: what the recorded message has otherwise, and in how many places, as far as they are counted.
    func lackOfMessage(_ context: MockContext) -> (text: String, count: Int)? {
        guard let first else { return context.number == 0 || context.payload.isEmpty ? nil : ("no message", 50) }
        let places = first.differences(from: context, ignoring: form.ignored)
        guard let place = places.first else { return nil }
        return (place.isEmpty ? "another message" : "another value at \(place)", places.count)
    }
}

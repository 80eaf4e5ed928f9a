internal import Bytes
internal import Documents
internal import Protocols
internal import Proxy
internal import RPC
internal import Types

/// Prints the response to a call: messages to standard output, a line of JSON each, and how it ended to standard error.
final class CallOutput {
    private static let limit = 64 << 20

    private let type: MessageType?
    private let types: KnownTypes?
    private var form: JSONForm { types?.form ?? JSONForm() }
    private let codec: Codec
    private let converter = MessageCodec()
    private var hasFailed = false

    /// Prints the response of a method, of a known type or not.
    init(_ method: MethodType?, _ types: KnownTypes?, _ codec: Codec) {
        type = method?.response
        (self.types, self.codec) = (types, codec)
    }

    /// Prints a message.
    func write(_ message: Span<UInt8>) {
        guard codec == .proto, let type, let set = types?.set else { return write(json: message) }
        do throws(MessageError) {
            Terminal.print(try json(message, type, set))
        } catch {
            complain("the response cannot be shown: \(error)")
        }
    }

    /// Prints JSON on one line; other text as it is, which a server sends that is none of RPC.
    private func write(json message: Span<UInt8>) {
        guard let value = try? JSON.parse(message) else {
            if message.count > 0 { Terminal.print(message.string.visible) }
            return complain("the response is not JSON")
        }
        let text = message.string
        Terminal.print(text.isVisible ? text : String(decoding: value.bytes, as: UTF8.self).visibleJSON)
    }

    private func complain(_ problem: String) {
        hasFailed = true
        Terminal.complain("martlet: \(problem)")
    }

    private func json(
        _ message: Span<UInt8>,
        _ type: MessageType,
        _ types: TypeSet
    ) throws(MessageError) -> String {
        let output = ByteQueue()
        try converter.appendJSON(of: message, type, types, form, limit: Self.limit, to: output)
        return output.readable.string.visibleJSON
    }

    /// Prints how the call has ended.
    ///
    /// - Returns: how the program ends for it.
    func finish(_ result: RPCResult) -> Exit {
        switch result {
        case .unreachable(let text), .failed(let text):
            Terminal.complain("martlet: \(text)")
            return .failure
        case .response(_, let error, let trailers):
            if let error { complain(error) }
            let outcome = ["grpc-status", "grpc-message", "grpc-status-details-bin"]
            for (name, value) in trailers {
                let name = String(decoding: name, as: UTF8.self)
                if outcome.contains(name) { continue }
                Terminal.complain("trailer \(name): \(String(decoding: value, as: UTF8.self).visible)")
            }
            return error == nil && !hasFailed ? .success : .failure
        }
    }

    private func complain(_ error: RPCError) {
        let text = error.message.isEmpty ? "" : ": \(error.message.visible)"
        Terminal.complain("martlet: \(error.code.name)\(text)")
        for detail in error.details { Terminal.complain("detail \(detail.type.visible): \(shown(detail))") }
    }

    private func shown(_ detail: ErrorDetail) -> String {
        if let (type, known) = ErrorDetailTypes.type(named: detail.type, in: types?.set),
            let text = try? json(detail.value.span, type, known)
        {
            return text
        }
        let output = ByteQueue()
        output.append(base64: detail.value.span, padded: true)
        return output.readable.string
    }
}

extension String {
    /// Whether it has no character that a terminal obeys, or that nobody sees.
    fileprivate var isVisible: Bool {
        unicodeScalars.allSatisfy { $0.isVisible || $0 == "\t" }
    }

    /// The text with these as escapes.
    fileprivate var visible: String {
        escaped { "\\u{\(String($0.value, radix: 16))}" }
    }

    /// The text with these as escapes of JSON, in whose strings they stand.
    fileprivate var visibleJSON: String {
        escaped { scalar in
            scalar.utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }

    private func escaped(_ escape: (Unicode.Scalar) -> String) -> String {
        guard !isVisible else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            text += scalar.isVisible || scalar == "\t" ? String(scalar) : escape(scalar)
        }
    }
}

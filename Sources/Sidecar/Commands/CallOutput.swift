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
        guard codec == .proto, let type, let types else { return Terminal.print(line(message)) }
        do throws(MessageError) {
            Terminal.print(try json(message, type, types))
        } catch {
            hasFailed = true
            Terminal.complain("martlet: the response cannot be shown: \(error)")
        }
    }

    /// JSON on one line; other text with its control characters as escapes, since a terminal would obey them.
    private func line(_ message: Span<UInt8>) -> String {
        let text = message.string
        guard text.hasControls else { return text }
        guard let value = try? JSON.parse(message) else { return text.visible }
        return String(decoding: value.bytes, as: UTF8.self)
    }

    private func json(
        _ message: Span<UInt8>,
        _ type: MessageType,
        _ types: KnownTypes
    ) throws(MessageError) -> String {
        let output = ByteQueue()
        try converter.appendJSON(of: message, type, types.set, types.form, limit: Self.limit, to: output)
        return output.readable.string
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
        if let types, let type = types.set.message(named: detail.type),
            let text = try? json(detail.value.span, type, types)
        {
            return text
        }
        let output = ByteQueue()
        output.append(base64: detail.value.span, padded: true)
        return output.readable.string
    }
}

extension String {
    /// Whether it has characters that a terminal obeys.
    fileprivate var hasControls: Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\t" }
    }

    /// The text with these as escapes.
    fileprivate var visible: String {
        guard hasControls else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            let isControl = scalar.properties.generalCategory == .control && scalar != "\t"
            text += isControl ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
    }
}

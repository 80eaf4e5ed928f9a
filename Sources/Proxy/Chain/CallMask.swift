internal import Bytes
public import Documents
internal import HTTP
internal import Protocols
internal import RPC

/// Masks what is written of one call: the values of its fields, and texts that the upstream or the chain has made.
///
/// A text does not repeat the credentials that the call has in masked headers and parameters, those of the configuration,
/// nor the parts of messages that `redact` masks. Collecting them allocates, so it happens only where something is written.
public struct CallMask {
    private let call: Call
    private let secrets: KnownSecrets
    /// Whether messages of the upstream's errors are hidden, because they may repeat values that are not known.
    private let hidesErrors: Bool

    /// Collects the credentials of a call.
    public init(_ call: Call) {
        self.call = call
        var secrets = call.worker.services.credentials.secrets
        for head in [call.received, call.request] {
            for index in 0..<head.count where call.redactions.contains(head.name(at: index)) {
                secrets.formUnion(SentCredentials.inField(head.name(at: index), head.value(at: index)))
            }
            secrets.formUnion(SentCredentials.inQuery(head.query, besides: call.hiddenParameter))
        }
        var isComplete = secrets.isComplete
        if call.redactions.hasPointers {
            let redacted = call.redactedValues
            secrets.formUnion(redacted.secrets)
            isComplete = secrets.isComplete && redacted.isComplete
        }
        hidesErrors = !isComplete && !call.response.isOwn
        self.secrets = secrets
    }

    // MARK: Texts

    /// Returns a text without credentials.
    public func text(_ text: [UInt8]) -> [UInt8] { MaskedText.masked(text, secrets: secrets) ?? text }

    /// Returns a text without credentials.
    public func text(_ text: String) -> String { MaskedText.masked(text, secrets: secrets) }

    /// Returns the message of an error without credentials, or `***` if it may repeat a value that is not known.
    public func message(_ message: [UInt8]) -> [UInt8] { hidesErrors && !message.isEmpty ? Self.mask : text(message) }

    /// Returns the message of an error without credentials, or `***` if it may repeat a value that is not known.
    public func message(_ message: String) -> String {
        hidesErrors && !message.isEmpty ? "\(MaskedText.mask)" : text(message)
    }

    /// Returns whether bytes have credentials in them.
    public func finds(in bytes: [UInt8]) -> Bool { MaskedText.masked(bytes, secrets: secrets) != nil }

    // MARK: Bodies of errors

    /// Returns the body of an error in plain HTTP, or of Connect, without credentials.
    public func error(_ body: [UInt8]) -> [UInt8] {
        guard let value = try? JSON.parse(body) else { return message(body) }
        let shown = error(value)
        return shown == value ? body : shown.bytes
    }

    /// Returns the body of an error without credentials in its texts, which may be in base64, as the details of Connect are.
    public func error(_ body: JSONValue) -> JSONValue {
        hidesErrors ? .string("\(MaskedText.mask)") : masked(body)
    }

    private func masked(_ value: JSONValue) -> JSONValue {
        value.mapped(name: { text($0) }, scalar: { masked(scalar: $0) }) ?? .string("\(MaskedText.mask)")
    }

    private func masked(scalar value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool, .array, .object: return value
        case .integer, .number: return finds(in: value.bytes) ? .string("\(MaskedText.mask)") : value
        case .string(let text):
            if let bytes = Base64.decode(Array(text.utf8).span), finds(in: bytes) {
                return .string("\(MaskedText.mask)")
            }
            return .string(self.text(text))
        }
    }

    // MARK: Fields

    /// Returns the value of a field, whose name is in small letters, without credentials.
    public func value(_ value: Span<UInt8>, ofField name: Span<UInt8>) -> [UInt8] {
        guard !call.hides(name) else { return Self.mask }
        if name.equals("grpc-message") {
            let plain = PercentEncoding.decode(value)
            let shown = message(plain)
            guard shown != plain else { return value.array }
            let queue = ByteQueue()
            queue.append(percentEncoding: shown.span)
            return queue.readable.array
        }
        // The details of an error repeat its message.
        if name.hasSuffix(Self.binary), let bytes = Base64.decode(value) {
            let isHidden = hidesErrors && name.equals("grpc-status-details-bin")
            return isHidden || finds(in: bytes) ? Self.mask : value.array
        }
        return text(value.array)
    }

    private static let mask = Array("\(MaskedText.mask)".utf8)
    private static let binary = Array("-bin".utf8)
}

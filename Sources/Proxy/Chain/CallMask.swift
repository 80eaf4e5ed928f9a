internal import Bytes
internal import HTTP
internal import Protocols
internal import RPC

/// Masks what is written of one call: the values of its fields, and texts that the upstream or the chain has made.
///
/// A text does not repeat the credentials that the call has in masked headers and parameters. The chain may have added
/// them, from a file or an identity provider. Collecting them allocates, so it happens only where something is written.
public struct CallMask {
    private let call: Call
    private let secrets: [[UInt8]]

    /// Collects the credentials of a call.
    public init(_ call: Call) {
        self.call = call
        var secrets = Set<[UInt8]>()
        for head in [call.received, call.request] {
            for index in 0..<head.count where call.redactions.contains(head.name(at: index)) {
                let value = head.value(at: index).array
                secrets.insert(value)
                let isCookie = head.name(at: index).equals("cookie")
                secrets.formUnion(isCookie ? Self.cookieValues(value) : Self.credentials(value))
            }
            secrets.formUnion(Self.parameters(head.query, besides: call.hiddenParameter))
        }
        self.secrets = Array(secrets)
    }

    /// Returns a text, such as the message of an error, without credentials.
    public func text(_ text: [UInt8]) -> [UInt8] { MaskedText.masked(text, secrets: secrets) ?? text }

    /// Returns a text, such as the message of an error, without credentials.
    public func text(_ text: String) -> String { MaskedText.masked(text, secrets: secrets) }

    /// Whether bytes have credentials in them.
    public func finds(in bytes: [UInt8]) -> Bool { MaskedText.masked(bytes, secrets: secrets) != nil }

    /// Returns the value of a field, whose name is in small letters, without credentials.
    public func value(_ value: Span<UInt8>, ofField name: Span<UInt8>) -> [UInt8] {
        guard !call.hides(name) else { return Self.mask }
        if name.equals("grpc-message") {
            let plain = PercentEncoding.decode(value)
            guard let masked = MaskedText.masked(plain, secrets: secrets) else { return value.array }
            let queue = ByteQueue()
            queue.append(percentEncoding: masked.span)
            return queue.readable.array
        }
        // The details of an error repeat its message.
        if name.hasSuffix(Self.binary), let bytes = Base64.decode(value) {
            return finds(in: bytes) ? Self.mask : value.array
        }
        return text(value.array)
    }

    private static let mask = Array("\(MaskedText.mask)".utf8)
    private static let binary = Array("-bin".utf8)

    /// The credentials in the value of a header, which may begin with a scheme.
    private static func credentials(_ value: [UInt8]) -> [[UInt8]] {
        guard let space = value.firstIndex(of: UInt8(ascii: " ")) else { return [] }
        let credentials = Array(value[space...].drop { $0 == UInt8(ascii: " ") })
        guard value.span.extracting(0..<space).equalsIgnoringCase("basic") else { return [credentials] }
        let plain = Base64.decode(credentials.span) ?? []
        return [credentials, plain]
            + plain.split(separator: UInt8(ascii: ":"), maxSplits: 1).dropFirst().map(Array.init)
    }

    private static func cookieValues(_ value: [UInt8]) -> [[UInt8]] {
        value.split(separator: UInt8(ascii: ";")).compactMap { cookie in
            cookie.firstIndex(of: UInt8(ascii: "=")).map { Array(cookie[($0 + 1)...]) }
        }
    }

    /// The values of the parameters of a query that are masked, as they are and without escapes.
    private static func parameters(_ query: Span<UInt8>, besides hidden: String?) -> [[UInt8]] {
        var (values, start): ([[UInt8]], Int) = ([], 0)
        while let parameter = QueryParameter(in: query, at: &start) {
            let name = PercentEncoding.decode(query.extracting(parameter.name))
            let isHidden = hidden.map { name.elementsEqual($0.utf8) } ?? false
            guard isHidden || SecretName.matches(name.span) else { continue }
            let value = query.extracting(parameter.value)
            values += [value.array, PercentEncoding.decode(value)]
        }
        return values
    }
}

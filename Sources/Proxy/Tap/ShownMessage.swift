internal import Bytes
internal import Documents
internal import HTTP
internal import Protocols
internal import RPC

/// A message as people may see it.
struct ShownMessage {
    enum Content {
        /// A JSON text without line feeds.
        case json([UInt8])
        case text([UInt8])
        case binary([UInt8])
        /// A message that may have masked parts, and cannot be read.
        case withheld
    }

    let content: Content
    /// The number of bytes of the message, as it was sent.
    let count: Int
    /// Whether the end of the message is missing.
    let isCut: Bool

    /// Reads a message as far as it was kept; JSON where it is, or where its type is known.
    ///
    /// - Parameters:
    ///   - found: the message.
    ///   - compression: how it may be compressed.
    ///   - direction: the direction of the message.
    ///   - call: its call.
    ///   - isError: whether the message is the error of a unary Connect call, whose details are other messages, or of plain HTTP.
    ///   - form: the form in it, if it is one.
    init(
        _ found: MessageFinder.Found,
        _ compression: Compression,
        _ direction: Direction,
        _ call: Call,
        isError: Bool = false,
        form: FormBody? = nil
    ) {
        count = found.count
        isCut = !found.isWhole
        let isCompressed = Self.isCompressed(found, compression, call)
        guard found.isWhole else {
            content =
                call.redactions.hasPointers || isCompressed && (isError || form != nil)
                ? .withheld : isCompressed ? .binary(found.bytes) : Self.plain(found.bytes, call, isError, form)
            return
        }
        let payload = Self.payload(of: found, compression, call)
        if let value = payload.flatMap({ Self.json($0.span, direction, call, isError: isError) }) {
            var shown = call.redactions.masked(value)
            // The types of details are not known.
            if isError, call.redactions.hasPointers, shown["details"] != nil, let place = JSONPointer("/details") {
                shown.replace(place, by: .string("\(Redactions.mask)"))
            }
            content = .json(isError ? CallMask(call).error(shown).bytes : shown.bytes)
        } else if call.redactions.hasPointers, count > 0 {
            content = .withheld
        } else if let payload {
            content = Self.plain(payload, call, isError, form)
        } else {
            // This may be a form or an error with credentials, and cannot be read.
            content = isError || form != nil ? .withheld : .binary(found.bytes)
        }
    }

    /// Returns whether a message is compressed: in envelopes, each says so; otherwise, the head does.
    private static func isCompressed(_ found: MessageFinder.Found, _ compression: Compression, _ call: Call) -> Bool {
        call.rpcProtocol.hasEnvelopes ? found.isCompressed : compression != .identity
    }

    /// Returns the payload of a whole message without its compression; `nil` if that cannot be undone.
    static func payload(
        of found: MessageFinder.Found,
        _ compression: Compression,
        _ call: Call,
        limit: Int = MessageFinder.maxBytes * 4
    ) -> [UInt8]? {
        guard isCompressed(found, compression, call), found.count > 0 else { return found.bytes }
        return decompressed(found.bytes, compression, call, limit: limit)
    }

    /// Returns a message as JSON, or `nil` if it is not of its type, since it may have other names than those that are masked.
    private static func json(
        _ payload: Span<UInt8>,
        _ direction: Direction,
        _ call: Call,
        isError: Bool
    ) -> JSONValue? {
        if !isError, let value = call.json(payload, direction) { return value }
        guard isError || !call.hasMessageTypes || !call.redactions.hasPointers else { return nil }
        return try? call.parsed(payload)
    }

    private static func decompressed(
        _ bytes: [UInt8],
        _ compression: Compression,
        _ call: Call,
        limit: Int
    ) -> [UInt8]? {
        guard compression != .identity else { return nil }
        // The direction only matters for the text of the error, which is dropped.
        return try? call.worker.decompressed(bytes.span, from: compression, .response, limit: limit)
    }

    private static func plain(_ bytes: [UInt8], _ call: Call, _ isError: Bool, _ form: FormBody?) -> Content {
        let shown = form?.masked(bytes, isDecompressed: true) ?? bytes
        return plain(isError ? CallMask(call).error(shown) : shown)
    }

    /// Returns bytes as text if they are readable.
    static func plain(_ bytes: [UInt8]) -> Content {
        isText(bytes) ? .text(bytes) : .binary(bytes)
    }

    /// Returns whether bytes are UTF-8 without control characters but for line feeds and tabs.
    static func isText(_ bytes: [UInt8]) -> Bool {
        guard (try? UTF8Span(validating: bytes.span)) != nil else { return false }
        return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x0a || $0 == 0x09 || $0 == 0x0d }
    }
}

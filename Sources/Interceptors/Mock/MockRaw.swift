internal import Bytes
internal import Configuration
internal import Protocols
internal import Proxy

/// A response byte for byte, in the protocol of the caller, be it right or wrong.
struct MockRaw: Sendable {
    let status: Int
    private let headers: [(name: [UInt8], value: [UInt8])]
    /// The body, with the envelopes of its messages.
    let body: [UInt8]
    private let trailers: [(name: [UInt8], value: [UInt8])]

    /// Reads the options and reports what is wrong with them.
    init(_ section: Section) {
        status = section.integer("status")
        headers = Self.fields("headers", of: section)
        trailers = Self.fields("trailers", of: section)
        var body = Self.bytes(section)
        for item in section.sections("items") {
            let payload = Self.bytes(item)
            let length = item.integer(ifGiven: "length") ?? payload.count
            body.append(UInt8(item.integer("flags")))
            body += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
            body += payload
        }
        self.body = body
    }

    private static func bytes(_ section: Section) -> [UInt8] {
        let keys = ["text", "hex", "base64"].filter { section.has($0) }
        if keys.count > 1 { section.reportConflict(keys[0], keys[1]) }
        if let text = section.string(ifGiven: "text") { return Array(text.utf8) }
        return section.hexadecimal("hex") ?? section.base64("base64") ?? []
    }

    /// A value may be a list, for a field that comes more than once.
    private static func fields(_ key: String, of section: Section) -> [(name: [UInt8], value: [UInt8])] {
        guard let node = section.node(key) else { return [] }
        guard let entries = node.entries else {
            section.report("\"\(key)\" cannot be \(node.summary); write a mapping of names to values", at: key)
            return []
        }
        return entries.flatMap { entry in
            let name = Array(entry.key.lowercased().utf8)
            return MockFields.values(of: entry.value, into: section.diagnostics).map { value in
                HeaderValue.check(value.text, at: value.mark, into: section.diagnostics)
                return (name, Array(value.text.utf8))
            }
        }
    }

    /// Sends the response.
    func send(to exchange: LocalExchange) {
        exchange.send(status: status, headers: headers)
        exchange.send(bytes: body.span)
        exchange.end(trailers: trailers)
    }
}

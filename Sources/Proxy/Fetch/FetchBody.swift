/// What a request of our own sends.
public enum FetchBody: Hashable, Sendable {
    /// These bytes; none is no body.
    case bytes([UInt8])
    /// The bytes that a file has when the request is sent.
    case file(String)
    /// The parts of a form (RFC 7578), as they are when the request is sent; a `NamedCall` makes them.
    case multipart([Part])

    /// One part of a form.
    public struct Part: Hashable, Sendable {
        /// The headers with the empty line behind them.
        let head: [UInt8]
        let content: Content
    }

    /// What a part holds.
    public enum Content: Hashable, Sendable {
        /// These bytes.
        case bytes([UInt8])
        /// The bytes that a file has when the request is sent.
        case file(String)
    }
}

extension FetchRequest {
    /// Whether its bytes are all here, so that nothing has to be read before it is sent.
    var isLoaded: Bool {
        if case .bytes = body { true } else { false }
    }

    /// What the body consists of, in order.
    ///
    /// The parts of a form get a new boundary, which the content type names from then on.
    mutating func takeContents() -> [FetchBody.Content] {
        defer { body = .bytes([]) }
        switch body {
        case .bytes(let bytes): return [.bytes(bytes)]
        case .file(let path): return [.file(path)]
        case .multipart(let parts):
            let boundary = Multipart.newBoundary()
            append("; boundary=\(boundary)", toField: "content-type")
            return Multipart.contents(parts, boundary: boundary)
        }
    }

    private mutating func append(_ text: String, toField name: String) {
        guard let index = fields.lastIndex(where: { $0.name == name }) else { return }
        fields[index] = Field(name, fields[index].value + text.utf8)
    }
}

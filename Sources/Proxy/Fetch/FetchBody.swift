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

    /// The same request with the bytes that its files have now.
    ///
    /// The thread waits for the disk: it must not be a worker's.
    ///
    /// - Throws: an error if a file cannot be read.
    public func loaded() throws(NamedCallError) -> FetchRequest {
        var loaded = self
        switch body {
        case .bytes: break
        case .file(let path): loaded.body = .bytes(try CallFile.read(path))
        case .multipart(let parts):
            let (bytes, boundary) = try Multipart.joined(parts)
            loaded.body = .bytes(bytes)
            loaded.append("; boundary=\(boundary)", toField: "content-type")
        }
        return loaded
    }

    private mutating func append(_ text: String, toField name: String) {
        guard let index = fields.lastIndex(where: { $0.name == name }) else { return }
        fields[index] = Field(name, fields[index].value + text.utf8)
    }
}

internal import Bytes
internal import Compressors
internal import RPC

/// The content codings of requests and responses of Martlet's own (RFC 9110 §8.4).
extension FetchRequest {
    /// The value of the `accept-encoding` field that is sent with the request; `nil` if the request has the field.
    ///
    /// Without the field a server may choose any coding. A part of a coded body cannot be decoded, so a range is asked for
    /// without one.
    var acceptedCodings: StaticString? {
        guard !fields.contains(where: { $0.name == "accept-encoding" }) else { return nil }
        return fields.contains { $0.name == "range" } ? "identity" : "gzip"
    }
}

extension FetchedResponse {
    /// Decodes the body from its content coding.
    ///
    /// - Parameter limit: The maximum number of bytes of the decoded body.
    /// - Returns: The response without a content coding.
    /// - Throws: An error if Martlet does not know the coding, or if the body cannot be decoded within the limit.
    func decoded(limit: Int) throws(FetchError) -> FetchedResponse {
        let codings = fields.filter { $0.name == "content-encoding" }
        // A response to HEAD, and one without content, has the field of another response.
        guard let coding = codings.first, !body.isEmpty else { return self }
        let compression = codings.count == 1 ? Compression(name: coding.value.span) : .unknown
        guard compression != .identity else { return self }
        guard Compressor.supports(compression) else {
            let names = Compressor.all.compactMap(\.name).map(\.description).joined(separator: ", ")
            let value = codings.map { String(decoding: $0.value.prefix(32), as: UTF8.self) }.joined(separator: ", ")
            throw FetchError(
                text: "the content encoding \"\(value)\" of the response is unknown; the server can use \(names)",
                code: .internal
            )
        }
        let plain = ByteQueue()
        do throws(DecompressionError) {
            try Compressor().decompress(body.span, from: compression, into: plain, limit: limit)
        } catch .overLimit {
            throw FetchError(text: "the response exceeds \(limit) bytes when decompressed", code: .resourceExhausted)
        } catch {
            throw FetchError(text: "the response cannot be decompressed", code: .internal)
        }
        let kept = fields.filter { $0.name != "content-encoding" && $0.name != "content-length" }
        return FetchedResponse(status: status, fields: kept, body: plain.readable.array)
    }
}

internal import Bytes
internal import Documents
internal import RPC

/// A body of any content type, as the JSON of a `google.api.HttpBody` has it (`google/api/httpbody.proto`).
struct HTTPBody {
    /// The content type; a valid value of a header field.
    let contentType: [UInt8]
    /// The bytes.
    let data: [UInt8]

    /// Makes one of a message that has come.
    init(contentType: Span<UInt8>, data: [UInt8]) {
        self.contentType = contentType.array
        self.data = data
    }

    /// Reads one.
    ///
    /// - Parameters:
    ///   - json: the message; none is an empty body.
    ///   - code: the code of the errors.
    /// - Throws: an error for a content type that no header can have, and for data that is not base64.
    init(_ json: JSONValue?, orError code: RPCCode) throws(RPCError) {
        let type = (json?["contentType"] ?? json?["content_type"])?.string ?? ""
        contentType = type.isEmpty ? Array("application/octet-stream".utf8) : Array(type.utf8)
        guard contentType.allSatisfy({ 0x20...0x7e ~= $0 || $0 == 0x09 }) else {
            throw RPCError(code, "the content type of a google.api.HttpBody is not a valid header value")
        }
        let text = json?["data"]?.string.map { Array($0.utf8) } ?? []
        guard let data = Base64.decode(text.span) else {
            throw RPCError(code, "the data of a google.api.HttpBody is not valid base64")
        }
        self.data = data
    }

    /// It as JSON.
    var json: [UInt8] {
        let queue = ByteQueue()
        queue.append("{\"contentType\":")
        queue.append(json: contentType.span)
        queue.append(",\"data\":\"")
        queue.append(base64: data.span, padded: true)
        queue.append("\"}")
        return queue.readable.array
    }
}

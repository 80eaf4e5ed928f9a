internal import Bytes
internal import Documents
internal import HTTP
internal import Proxy
internal import RPC

/// The head of a recorded response of plain HTTP.
struct RecordedHead {
    let status: Int
    /// The fields as a mapping in YAML.
    private(set) var headers: [UInt8]
    let isJSON: Bool
    /// The form in the body, or `nil` if the body is not a form.
    let form: FormBody?
    /// Whether such a response never has a body, so that its fields describe that of another one.
    let isBare: Bool
    private let length: Int?
    private let coding: [UInt8]

    /// Reads a head, whose fields are written already without those of the protocol.
    init(_ head: HTTPHead, _ headers: [UInt8], isHEAD: Bool, isJSON: Bool, form: FormBody?) {
        (status, self.headers, self.isJSON, self.form) = (head.status, headers, isJSON, form)
        isBare = isHEAD || status == 204 || status == 304
        length = head.contentLength
        coding = head.first(.contentEncoding).map { head.value(at: $0).array } ?? []
    }

    /// Whether the body is compressed.
    var isCompressed: Bool { !coding.isEmpty && !coding.span.equalsIgnoringCase("identity") }

    /// The head with the fields that describe a body that is not there.
    var described: RecordedHead {
        guard isBare else { return self }
        var head = isCompressed ? withCoding : self
        if let length, status != 204 { head.add("content-length", "\(length)") }
        return head
    }

    /// The head of a body that stays as it is.
    private var withCoding: RecordedHead {
        var head = self
        head.add("content-encoding", String(decoding: coding, as: UTF8.self))
        return head
    }

    /// Returns the response with the body that was compressed, or with the compressed one if that cannot be decompressed.
    func decompressed(_ body: [UInt8], _ form: RecordForm, _ call: Call) -> RecordForm.Text {
        // A range is one of the compressed bytes.
        guard status != 206, !body.isEmpty else {
            return form.respond(withCoding, body, count: body.count, isCompressed: true, call)
        }
        do throws(RPCError) {
            let plain = try call.decompressed(body.span, from: coding.span, limit: form.maxMessage)
            return form.respond(self, plain, count: plain.count, isCompressed: false, call)
        } catch {
            let isTooLong = error.code == .resourceExhausted
            let count = isTooLong ? form.maxMessage + 1 : body.count
            return form.respond(withCoding, body, count: count, isCompressed: true, call)
        }
    }

    private mutating func add(_ name: String, _ value: String) {
        let queue = ByteQueue()
        queue.append(headers.span.equals("{}") ? "{ " : ", ")
        queue.append(yaml: name)
        queue.append(": ")
        queue.append(quotedYAML: RecordForm.template(value))
        queue.append(" }")
        headers = (headers.span.equals("{}") ? [] : Array(headers.dropLast(2))) + queue.readable.array
    }
}

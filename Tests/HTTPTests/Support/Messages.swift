import Bytes
import HTTP

/// Makes heads from a few words, to be sent.
enum Message {
    static func response(_ status: Int, _ fields: KeyValuePairs<String, String> = [:], length: Int? = nil) -> HTTPHead {
        let head = trailers(fields)
        head.status = status
        head.contentLength = length
        return head
    }

    static func request(
        _ method: String = "POST",
        _ target: String = "/",
        _ fields: KeyValuePairs<String, String> = [:],
        length: Int? = nil
    ) -> HTTPHead {
        let head = trailers(fields)
        head.setMethod(method.bytes.span)
        head.setTarget(target.bytes.span)
        head.setAuthority("a".bytes.span)
        head.contentLength = length
        return head
    }

    static func trailers(_ fields: KeyValuePairs<String, String>) -> HTTPHead {
        let head = HTTPHead()
        for (name, value) in fields { head.add(FieldName(name), value.bytes.span) }
        return head
    }
}

extension HTTPStream {
    /// Sends a whole response.
    func response(_ status: Int, _ fields: KeyValuePairs<String, String> = [:], body: String = "") {
        send(head: Message.response(status, fields, length: body.utf8.count), end: body.isEmpty)
        guard !body.isEmpty else { return }
        send(body: body.bytes.span)
        sendEnd(trailers: nil)
    }

    func send(body: String) {
        send(body: body.bytes.span)
    }
}

extension String {
    var bytes: [UInt8] { Array(utf8) }
}

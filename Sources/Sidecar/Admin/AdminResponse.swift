internal import Bytes

/// What the admin socket sends back.
enum AdminResponse {
    /// A response whose body is at hand.
    case whole(Whole)
    /// Lines of JSON as they come; the closure starts their source.
    case stream((LineStream) -> Void)

    /// A response whose body is at hand.
    struct Whole: Equatable, Sendable {
        let status: Int
        let contentType: String
        let body: [UInt8]
        /// Further fields of the head.
        var fields: [Field] = []

        /// Makes one; `body` is sent as it is.
        init(status: Int = 200, contentType: String, body: [UInt8]) {
            (self.status, self.contentType, self.body) = (status, contentType, body)
        }

        /// Makes one of a text for people, with a line feed at its end.
        init(status: Int = 200, text: String, _ fields: Field...) {
            self.init(status: status, contentType: "text/plain; charset=utf-8", body: Array("\(text)\n".utf8))
            self.fields = fields
        }
    }

    /// A field of the head of a response.
    struct Field: Equatable, Sendable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            (self.name, self.value) = (name, value)
        }
    }

    /// A text for people.
    static func text(_ text: String, status: Int = 200) -> AdminResponse {
        .whole(Whole(status: status, text: text))
    }

    /// What has been written to a queue, a JSON object and a line feed.
    static func json(_ queue: ByteQueue) -> AdminResponse {
        .whole(Whole(contentType: "application/json", body: queue.readable.array))
    }
}

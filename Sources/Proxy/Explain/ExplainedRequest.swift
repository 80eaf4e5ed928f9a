/// A request to be explained: what a caller would send.
package struct ExplainedRequest: Equatable, Sendable {
    /// The HTTP method.
    package var method: String
    /// The path, with the query if there is one.
    package var target: String
    /// The header fields.
    package var headers: [(name: String, value: String)]
    /// The message, or the body in plain HTTP.
    package var body: [UInt8]

    /// Describes a request.
    package init(method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// Whether the two are the same request.
    package static func == (one: ExplainedRequest, other: ExplainedRequest) -> Bool {
        one.method == other.method && one.target == other.target && one.body == other.body
            && one.headers.elementsEqual(other.headers) { $0 == $1 }
    }
}

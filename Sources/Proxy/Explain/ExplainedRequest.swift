/// A request to be explained: what a caller would send.
public struct ExplainedRequest: Equatable, Sendable {
    /// The HTTP method.
    public var method: String
    /// The path, with the query if there is one.
    public var target: String
    /// The header fields.
    public var headers: [(name: String, value: String)]
    /// The message, or the body in plain HTTP.
    public var body: [UInt8]

    /// Describes a request.
    public init(method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// Whether the two are the same request.
    public static func == (one: ExplainedRequest, other: ExplainedRequest) -> Bool {
        one.method == other.method && one.target == other.target && one.body == other.body
            && one.headers.elementsEqual(other.headers) { $0 == $1 }
    }
}

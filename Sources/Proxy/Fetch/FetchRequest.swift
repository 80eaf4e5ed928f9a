internal import Configuration

/// A request that Martlet makes by itself: for a token, or before a call is retried.
public struct FetchRequest: Hashable, Sendable {
    /// One header.
    public struct Field: Hashable, Sendable {
        /// The name, in small letters.
        public let name: String
        /// The value.
        public let value: [UInt8]

        /// Makes a header.
        public init(_ name: String, _ value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    /// The method, `POST` for one.
    public var method: String
    /// The path with the query, as it is sent.
    public var target: [UInt8]
    /// The headers in their order; what frames the body, and the authority, are not among them.
    public var fields: [Field]
    /// What is sent behind the headers.
    public var body: FetchBody
    /// The named call that it is; none if it is none.
    @NotCompared var call: String?

    /// Makes a request.
    public init(method: String, target: [UInt8], fields: [Field] = [], body: FetchBody = .bytes([])) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }
}

/// The whole response to a request that Martlet has made.
public struct FetchedResponse: Equatable, Sendable {
    /// The status, 200 to 999.
    public let status: Int
    /// The headers in their order.
    public let fields: [FetchRequest.Field]
    /// The body, decoded from its transfer coding.
    public let body: [UInt8]
}

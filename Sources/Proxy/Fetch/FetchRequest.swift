/// A request that Martlet makes by itself: for a token, or before a call is retried.
package struct FetchRequest: Hashable, Sendable {
    /// One header.
    package struct Field: Hashable, Sendable {
        /// The name, in small letters.
        package let name: String
        /// The value.
        package let value: [UInt8]

        /// Makes a header.
        package init(_ name: String, _ value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    /// The method, `POST` for one.
    package var method: String
    /// The path with the query, as it is sent.
    package var target: [UInt8]
    /// The headers in their order; what frames the body, and the authority, are not among them.
    package var fields: [Field]
    /// What is sent behind the headers.
    package var body: FetchBody

    /// Makes a request.
    package init(method: String, target: [UInt8], fields: [Field] = [], body: FetchBody = .bytes([])) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }
}

/// The whole response to a request that Martlet has made.
package struct FetchedResponse: Equatable, Sendable {
    /// The status, 200 to 999.
    package let status: Int
    /// The headers in their order.
    package let fields: [FetchRequest.Field]
    /// The body, decoded from its transfer coding.
    package let body: [UInt8]
}

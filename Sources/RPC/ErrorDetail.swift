/// One typed detail of an error: a Protobuf message and its name.
public struct ErrorDetail: Equatable, Sendable {
    /// The full name of the message type, without a URL before it: `google.rpc.RetryInfo`.
    public var type: String
    /// The message in Protobuf's binary form.
    public var value: [UInt8]

    /// Names a message.
    public init(type: String, value: [UInt8]) {
        self.type = type
        self.value = value
    }
}

internal import Bytes
internal import HTTP
internal import Protocols

/// Forms in the bodies of plain HTTP, as logs and other people may see them.
extension Call {
    /// Returns the body of the request without the fields that are named like credentials, or `nil` if it has none.
    ///
    /// Only a body of `application/x-www-form-urlencoded` has fields.
    public func maskedForm(_ body: [UInt8]) -> [UInt8]? {
        rpcProtocol == .http && request.hasForm ? MaskedText.maskedForm(body) : nil
    }
}

extension HTTPHead {
    /// Whether the body consists of the fields of a form.
    fileprivate var hasForm: Bool {
        guard let index = first(.contentType) else { return false }
        let type = value(at: index).array
        return type.span.mediaType.equalsIgnoringCase("application/x-www-form-urlencoded")
    }
}

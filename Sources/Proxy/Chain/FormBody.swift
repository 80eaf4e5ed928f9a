internal import Bytes
public import HTTP
internal import Protocols

/// The way in which a body of plain HTTP has the fields of a form, for logs and other people.
public struct FormBody: Equatable, Sendable {
    private enum Kind: Equatable {
        case urlEncoded
        case multipart(boundary: [UInt8])
    }

    private let kind: Kind
    private let isCompressed: Bool

    /// Reads the head of a body; `nil` if the body is not a form.
    init?(_ head: HTTPHead) {
        guard let index = head.first(.contentType) else { return nil }
        let value = head.value(at: index).array
        let type = value.span.mediaType
        if type.equalsIgnoringCase("application/x-www-form-urlencoded") {
            kind = .urlEncoded
        } else if type.equalsIgnoringCase("multipart/form-data") {
            kind = .multipart(boundary: MaskedText.boundary(in: value))
        } else {
            return nil
        }
        isCompressed = head.first(.contentEncoding).map { !head.value(at: $0).equalsIgnoringCase("identity") } ?? false
    }

    /// Returns a body without the fields that are named like credentials, or `nil` if it has none.
    ///
    /// A compressed body is masked as a whole.
    public func masked(_ body: [UInt8], isDecompressed: Bool = false) -> [UInt8]? {
        guard !isCompressed || isDecompressed else { return body.isEmpty ? nil : Array("\(MaskedText.mask)".utf8) }
        return switch kind {
        case .urlEncoded: MaskedText.maskedForm(body)
        case .multipart(let boundary): MaskedText.maskedForm(body, boundary: boundary)
        }
    }
}

extension Call {
    /// Returns the form in a body with this head, or `nil` if the body is not a form.
    public func form(of head: HTTPHead) -> FormBody? { rpcProtocol == .http ? FormBody(head) : nil }

    /// Returns the body of the request without the fields that are named like credentials, or `nil` if it has none.
    public func maskedForm(_ body: [UInt8]) -> [UInt8]? { form(of: request)?.masked(body) }
}

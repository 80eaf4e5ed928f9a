internal import Bytes
public import HTTP
internal import Protocols

/// The form in a body of plain HTTP, whose secret fields are masked in logs.
public struct FormBody: Equatable, Sendable {
    private enum Kind: Equatable {
        case urlEncoded
        case multipart(boundary: [UInt8])
        /// Content types that name different forms.
        case ambiguous

        /// Reads one content type; `nil` if it is not that of a form.
        init?(_ value: Span<UInt8>) {
            let type = value.mediaType
            if type.equalsIgnoringCase("application/x-www-form-urlencoded") {
                self = .urlEncoded
            } else if type.equalsIgnoringCase("multipart/form-data") {
                self = .multipart(boundary: MaskedText.boundary(in: value.array))
            } else {
                return nil
            }
        }
    }

    private let kind: Kind
    private let isCompressed: Bool

    /// Reads the head of a body; `nil` if the body is not a form.
    ///
    /// A body is a form if any of several content types says so, since readers differ about which counts.
    init?(_ head: HTTPHead) {
        let values = (0..<head.count).filter { head.name(at: $0).equals("content-type") }
            .map { head.value(at: $0).array }
        let kinds = values.flatMap { value in
            Kind(value.span).map { [$0] } ?? value.split(separator: UInt8(ascii: ",")).compactMap { Kind($0.span) }
        }
        guard let first = kinds.first else { return nil }
        kind = kinds.allSatisfy { $0 == first } ? first : .ambiguous
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
        case .ambiguous: body.isEmpty ? nil : Array("\(MaskedText.mask)".utf8)
        }
    }
}

extension Call {
    /// Returns the form in a body with this head, or `nil` if the body is not a form.
    public func form(of head: HTTPHead) -> FormBody? { rpcProtocol == .http ? FormBody(head) : nil }

    /// Returns the body of the request without the fields that are named like credentials, or `nil` if it has none.
    public func maskedForm(_ body: [UInt8]) -> [UInt8]? { form(of: request)?.masked(body) }
}

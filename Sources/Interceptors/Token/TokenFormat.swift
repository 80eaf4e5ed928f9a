internal import Bytes
internal import Configuration
internal import HTTP
internal import Proxy

/// How a header carries a token: `Bearer {token}`.
struct TokenFormat: Sendable {
    private let prefix: [UInt8]
    private let suffix: [UInt8]

    init(_ section: Section) {
        let format = section.string("format")
        HeaderValue.check(format, at: section.mark(of: "format"), into: section.diagnostics)
        let parts = format.split(separator: "{token}", omittingEmptySubsequences: false)
        if parts.count != 2 {
            section.report(
                "\"format\" must contain {token} once; write for example \"Bearer {token}\"",
                at: "format"
            )
        }
        prefix = Array((parts.first ?? "").utf8)
        suffix = Array((parts.count > 1 ? parts[1] : "").utf8)
    }

    /// The header's value.
    func header(_ token: [UInt8]) -> [UInt8] { prefix + token + suffix }

    /// The token that a request carries; none if it carries none like this.
    func token(in request: HTTPHead, _ header: FieldName) -> [UInt8]? {
        guard let index = request.first(header) else { return nil }
        let value = request.value(at: index).array
        guard value.count >= prefix.count + suffix.count, value.starts(with: prefix) else { return nil }
        return Array(value.dropFirst(prefix.count).dropLast(suffix.count))
    }
}

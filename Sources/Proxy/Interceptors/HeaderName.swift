internal import Bytes
internal import Configuration
internal import HTTP

/// The values of headers as the configuration may give them.
enum HeaderValue {
    /// Reports a value that cannot stand in a header; a line break in it would make two headers of one.
    static func check(_ value: String, at mark: Mark, into diagnostics: Diagnostics) {
        guard value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) else { return }
        diagnostics.report("a header value cannot have control characters; remove them", at: mark)
    }
}

/// The names of headers as rules may give them.
enum HeaderName {
    private static let owned: Set<String> = [
        "content-type", "content-length", "content-encoding", "te", "host", "connection", "keep-alive",
        "proxy-connection", "transfer-encoding", "upgrade", "trailer", "expect",
    ]
    private static let ownedPrefixes = [":", "connect-", "grpc-", "trailer-connect-"]

    /// Whether the protocols keep this header for themselves.
    static func isOwned(_ name: String) -> Bool {
        let name = name.lowercased()
        return owned.contains(name) || ownedPrefixes.contains { name.hasPrefix($0) }
    }

    /// Takes a name; one that is malformed, or a protocol's own, is reported at `mark`.
    static func checked(_ name: String, at mark: Mark, into diagnostics: Diagnostics) -> FieldName {
        guard isOwned(name) else { return valid(name, at: mark, into: diagnostics) }
        diagnostics.report("the header \(name) belongs to the protocol; rules may not touch it", at: mark)
        return FieldName(name)
    }

    /// Takes the name of a header that is only looked at; one that is malformed is reported at `mark`.
    static func valid(_ name: String, at mark: Mark, into diagnostics: Diagnostics) -> FieldName {
        if !FieldName.isValid(name) {
            diagnostics.report("\(Diagnostic.quote(name)) is no header name; write for example x-tenant", at: mark)
        }
        return FieldName(name)
    }

    /// Takes the name that an option gives.
    static func checked(_ name: String, at key: String, of section: Section) -> FieldName {
        checked(name, at: section.mark(of: key), into: section.diagnostics)
    }
}

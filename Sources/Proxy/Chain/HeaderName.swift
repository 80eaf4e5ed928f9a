internal import Bytes
public import Configuration
public import HTTP

/// The values of headers as the configuration may give them.
public enum HeaderValue {
    /// Reports a value that cannot stand in a header; a line break in it would make two headers of one.
    public static func check(_ value: String, at mark: Mark, into diagnostics: Diagnostics) {
        guard value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) else { return }
        diagnostics.report("a header value cannot contain control characters; remove them", at: mark)
    }
}

/// The names of headers as the configuration may give them.
public enum HeaderName {
    private static let owned: Set<String> = [
        "content-type", "content-length", "content-encoding", "te", "host", "connection", "keep-alive",
        "proxy-connection", "transfer-encoding", "upgrade", "trailer", "expect",
    ]
    private static let ownedPrefixes = [":", "connect-", "grpc-", "trailer-connect-"]

    /// Whether the protocols keep this header for themselves.
    public static func isOwned(_ name: String) -> Bool {
        let name = name.lowercased()
        return owned.contains(name) || ownedPrefixes.contains { name.hasPrefix($0) }
    }

    /// Takes a name; one that is malformed, or a protocol's own, is reported at `mark`.
    public static func checked(_ name: String, at mark: Mark, into diagnostics: Diagnostics) -> FieldName {
        guard isOwned(name) else { return valid(name, at: mark, into: diagnostics) }
        diagnostics.report("the header \(name) belongs to the protocol; a rule cannot change it", at: mark)
        return FieldName(name)
    }

    /// Takes the name of a header that is only looked at; one that is malformed is reported at `mark`.
    public static func valid(_ name: String, at mark: Mark, into diagnostics: Diagnostics) -> FieldName {
        if !FieldName.isValid(name) {
            diagnostics.report(
                "\(Diagnostic.quote(name)) is not a valid header name; write for example x-tenant",
                at: mark
            )
        }
        return FieldName(name)
    }

    /// Takes the name that the option `key` of a section gives; likewise.
    public static func checked(_ name: String, at key: String, of section: Section) -> FieldName {
        checked(name, at: section.mark(of: key), into: section.diagnostics)
    }
}

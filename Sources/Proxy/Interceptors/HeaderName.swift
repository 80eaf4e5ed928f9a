internal import Bytes
internal import Configuration
internal import HTTP

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
        if !FieldName.isValid(name), !name.hasPrefix(":") {
            diagnostics.report("\(Diagnostic.quote(name)) is no header name; write for example x-tenant", at: mark)
        } else if isOwned(name) {
            diagnostics.report("the header \(name) belongs to the protocol; rules may not touch it", at: mark)
        }
        return FieldName(name)
    }

    /// Takes the name that an option gives.
    static func checked(_ name: String, at key: String, of section: Section) -> FieldName {
        checked(name, at: section.mark(of: key), into: section.diagnostics)
    }
}

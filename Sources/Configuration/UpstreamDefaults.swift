/// What requests to an upstream get where they do not have it themselves.
public struct UpstreamDefaults: Equatable, Sendable {
    /// Headers for requests that have none of the name; the values are templates.
    public let headers: [NamedString]
    /// Parameters that are appended to the query; the values are templates.
    public let query: [NamedString]

    static let options = [
        Option(
            "headers",
            .map,
            "Headers to add to requests that do not have them. The values are templates."
        ),
        Option(
            "query",
            .map,
            "Parameters to append to the query of a request. The values are templates, and Martlet escapes them."
        ),
    ]

    /// What the parameters of a call in Connect by GET are named.
    private static let owned: Set = ["connect", "message", "encoding", "base64", "compression"]

    /// Reads the section; a parameter that belongs to the Connect protocol is reported.
    init(_ section: Section) {
        headers = section.map("headers")
        query = section.map("query")
        for parameter in query where Self.owned.contains(parameter.name) {
            section.diagnostics.report(
                "the query parameter \(parameter.name) belongs to the Connect protocol; remove it from \"defaults\"",
                at: parameter.nameMark
            )
        }
    }
}

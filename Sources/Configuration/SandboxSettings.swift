/// What Martlet gives up when it has started, so that whoever takes it over cannot use it.
public struct SandboxSettings: Equatable, Sendable {
    /// Whether there is a sandbox.
    public let isOn: Bool
    /// Whether only the TCP ports that the file names at startup can be used.
    public let fixesPorts: Bool
    /// Whether Martlet makes no Unix socket after startup, unless the file names an upstream on one.
    public let fixesUnixSockets: Bool
    /// More that may be read.
    public let readable: [MarkedString]
    /// More that may be written.
    public let writable: [MarkedString]

    static let options = [
        Option(
            "mode",
            .choice(["on", "off"]),
            default: "on",
            "Whether Martlet limits what it can do after startup, as far as the kernel supports it."
        ),
        Option(
            "ports",
            .choice(["any", "fixed"]),
            default: "any",
            """
            The TCP ports that Martlet can listen on and connect to: `any`, or only those that the file names at \
            startup (`fixed`). SRV records and address files need `any`.
            """
        ),
        Option(
            "unix_sockets",
            .choice(["any", "fixed"]),
            default: "fixed",
            """
            The Unix sockets that Martlet and its programs can make after startup: none, unless the file names an \
            upstream on a Unix socket (`fixed`), or `any`.
            """
        ),
        Option(
            "read",
            .strings,
            example: "/srv/models",
            "More directories that Martlet and its programs can read."
        ),
        Option(
            "write",
            .strings,
            example: "/srv/cache",
            "More directories that Martlet and its programs can read and write."
        ),
    ]

    init(_ section: Section) {
        isOn = section.string("mode") != "off"
        fixesPorts = section.string("ports") == "fixed"
        fixesUnixSockets = section.string("unix_sockets") != "any"
        readable = section.markedStrings("read")
        writable = section.markedStrings("write")
        for key in ["ports", "unix_sockets", "read", "write"] where !isOn && section.has(key) {
            section.report("\"\(key)\" has no effect without a sandbox; remove it, or write mode: on", at: key)
        }
        for path in readable + writable where !path.text.hasPrefix("/") {
            let problem = "\(Diagnostic.quote(path.text)) is not an absolute path"
            section.diagnostics.report("\(problem); write for example /srv/models", at: path.mark)
        }
    }
}

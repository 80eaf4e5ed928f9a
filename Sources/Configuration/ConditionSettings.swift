internal import Bytes

/// What must hold of a call for a route or an interceptor to take it: everything that is given.
///
/// A list holds if one of its members does; an empty list asks nothing.
public struct ConditionSettings: Equatable, Sendable {
    /// Full names of RPC services, such as `pkg.Service`.
    public let services: [String]
    /// Names of RPC methods, such as `Say`.
    public let methods: [String]
    /// Methods of HTTP, such as `GET`, in capitals.
    public let httpMethods: [String]
    /// Paths: exact, or prefixes if they end in `/`.
    public let paths: [String]
    /// Host names in small letters: exact, or `*.suffix`.
    public let hosts: [String]
    /// What is asked of request headers.
    public let headers: [HeaderMatcher]
    /// User numbers of the calling process, over Unix sockets.
    public let peerUsers: [UInt32]
    /// Group numbers of the calling process, over Unix sockets.
    public let peerGroups: [UInt32]
    /// Systemd units of the calling process, over Unix sockets.
    public let peerUnits: [String]
    /// What the caller speaks, as names out of `protocolNames`.
    public let protocols: [String]
    /// The outcomes of the call, as names out of `codeNames`; known on the way back only, and never asked by a route.
    public let codes: [String]
    /// Where the condition stands.
    @NotCompared public private(set) var mark: Mark

    /// Whether nothing is asked, so that every call is taken.
    public var isEmpty: Bool {
        services.isEmpty && methods.isEmpty && httpMethods.isEmpty && paths.isEmpty && hosts.isEmpty && headers.isEmpty
            && peerUsers.isEmpty && peerGroups.isEmpty && peerUnits.isEmpty && protocols.isEmpty && codes.isEmpty
    }

    /// The keys of a condition.
    public static let options = [
        Option(
            "service",
            .strings,
            example: "pkg.Service",
            "The RPC service, or a list of services. Plain HTTP has none."
        ),
        Option("method", .strings, example: "Say", "The RPC method, or a list of methods. Plain HTTP has none."),
        Option(
            "http_method",
            .strings,
            example: "GET",
            "The HTTP method, or a list of methods. Most RPC calls use `POST`."
        ),
        Option("path", .strings, example: "/admin/", "The path, or a prefix if it ends in `/`. A list is possible."),
        Option(
            "host",
            .strings,
            example: "api.example.com",
            "The host that the caller names, or `*.suffix`. A list is possible."
        ),
        Option(
            "header",
            .node,
            shape: .named(HeaderMatcher.shape),
            "Conditions on request headers: a value, `present`, `absent`, a list of values, or `{ regex: … }`."
        ),
        Option("peer", .section(peerOptions), "Conditions on the calling process, over a Unix socket."),
        Option("protocol", .choices(["connect"] + protocolNames), "The caller's protocol, or a list of protocols."),
        Option(
            "code",
            .choices(codeNames),
            "The status code of the call, or a list of codes. Only interceptors can use it, not routes."
        ),
    ]

    private static let ids = Option.Kind.integers(in: 0...Int(UInt32.max) - 1)
    private static let peerOptions = [
        Option("uid", ids, "The user ID of the calling process, or a list of user IDs."),
        Option("gid", ids, "The group ID of the calling process, or a list of group IDs."),
        Option(
            "unit",
            .strings,
            example: "app.service",
            "The systemd unit of the calling process, or a list of units."
        ),
    ]

    /// Reads a condition and reports what is wrong; the section has no `code` where nobody can ask for one.
    public init(_ section: Section) {
        mark = section.mark
        services = section.strings("service").map(Self.normal)
        methods = section.strings("method").map(Self.normal)
        httpMethods = section.strings("http_method").map { $0.uppercased() }
        paths = section.strings("path").map(Self.normal)
        hosts = section.strings("host").map { $0.lowercased() }
        let peer = section.has("peer") ? section.section("peer") : nil
        peerUsers = peer?.integers("uid").map(UInt32.init) ?? []
        peerGroups = peer?.integers("gid").map(UInt32.init) ?? []
        peerUnits = peer?.strings("unit") ?? []
        protocols = section.strings("protocol").flatMap(Self.protocols)
        codes = section.knows("code") ? section.strings("code") : []
        headers = Self.headers(section)
        check(section)
        guard let peer else { return }
        Self.require("unit", of: peer, "a service or a scope, such as app.service", Self.isUnit)
        for key in ["uid", "gid"] { peer.reportIfEmpty(key, write: "what to match") }
    }

    /// The form in which a path, or a part of one, is compared.
    private static func normal(_ text: String) -> String {
        String(decoding: URLPath.normal(part: Array(text.utf8).span), as: UTF8.self)
    }

    private static func headers(_ section: Section) -> [HeaderMatcher] {
        guard let node = section.node("header") else { return [] }
        guard let entries = node.entries else {
            section.report("\"header\" cannot be \(node.summary); write a mapping of names to values", at: "header")
            return []
        }
        return entries.compactMap { HeaderMatcher($0, into: section.diagnostics) }
    }

    private func check(_ section: Section) {
        let isName = { (text: String) in !text.isEmpty && !text.utf8.contains(UInt8(ascii: "/")) }
        Self.require("service", of: section, "the full name without a slash, such as pkg.Service", isName)
        Self.require("method", of: section, "the name alone, such as Say", isName)
        Self.require("http_method", of: section, "a method of HTTP, such as GET") { text in
            !text.isEmpty && text.utf8.allSatisfy { 0x41...0x5a ~= $0 & 0xdf || $0 == UInt8(ascii: "-") }
        }
        Self.require(
            "path",
            of: section,
            "a path that starts with /, without a query, unnecessary escapes or dot segments"
        ) {
            // Requests are forwarded in one form, and no path is in another.
            Self.isPath($0) && URLPath.forwarded(Array($0.utf8).span) == nil
        }
        Self.require("host", of: section, "a host name without a port, or *.suffix", Self.isHost)
        for key in ["protocol", "code"] where section.knows(key) { section.reportIfEmpty(key, write: "what to match") }
    }

    private static func require(
        _ key: String,
        of section: Section,
        _ advice: String,
        _ isGood: (String) -> Bool
    ) {
        for value in section.markedStrings(key) where !isGood(value.text) {
            let problem = "\"\(key)\" cannot be \(Diagnostic.quote(value.text))"
            section.diagnostics.report("\(problem); write \(advice)", at: value.mark)
        }
        section.reportIfEmpty(key, write: "what to match")
    }

    /// An empty list would ask nothing, and a condition that asks nothing lets everybody in.
    private static func isPath(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: "/") && text.utf8.allSatisfy { 0x21...0x7e ~= $0 && !"?#".utf8.contains($0) }
    }

    private static func isHost(_ text: String) -> Bool {
        let name = text.hasPrefix("*.") ? String(text.dropFirst(2)) : text
        return HostPort(name + ":0") != nil
    }

    /// Whether it is a unit that processes are in, which slices are not.
    private static func isUnit(_ text: String) -> Bool {
        !text.utf8.contains(UInt8(ascii: "/"))
            && [".service", ".scope"].contains { text.hasSuffix($0) && text.count > $0.count }
    }
}

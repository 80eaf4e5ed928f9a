/// Which requests a listener lets in by the host that they name and by the web page that is behind them.
public struct CallerGuardSettings: Equatable, Sendable {
    /// A host that callers may name, with a port if only that one is meant.
    public struct Host: Equatable, Sendable {
        /// The host in small letters, an IPv6 address in brackets; `.internal` for every name that ends so.
        public let name: String
        /// Whether `name` is the end of the names that are meant.
        public let isSuffix: Bool
        /// The port; none is any.
        public let port: UInt16?

        /// Reads `localhost:8080`, `api.internal`, `*.internal` or `[::1]:8080`.
        init?(_ text: String) {
            isSuffix = text.hasPrefix("*.")
            let host = isSuffix ? String(text.dropFirst(2)) : text
            guard let address = HostPort(host) ?? HostPort(host, defaultPort: 0) else { return nil }
            port = HostPort(host)?.port
            guard port != 0, !isSuffix || IPAddress(address.host) == nil else { return nil }
            name = (isSuffix ? "." : "") + address.hostInURL
        }
    }

    /// The web pages that may call.
    public enum Origins: Equatable, Sendable {
        /// Those of these origins, as browsers write them (RFC 6454 §6.2): in small letters, without a default port.
        case listed([String])
        /// All.
        case any
    }

    /// The hosts that callers may name; none is any.
    public let hosts: [Host]?
    /// The web pages that may call; none is no page over TCP, and any on a Unix socket, which browsers do not reach.
    public let origins: Origins?

    static let options = [
        Option(
            "hosts",
            .strings,
            example: "localhost:8080",
            """
            The hosts that requests may name. `api.internal` allows every port, and `*.internal` every name \
            below it. The default is any host.
            """
        ),
        Option(
            "origins",
            .strings,
            example: "https://app.example",
            """
            The origins of web pages that may call, or `any`. By default TCP listeners allow only the hosts in \
            `hosts`, and Unix sockets all origins.
            """
        ),
    ]

    /// Reads the options above from `section` and reports what is wrong with them.
    init(_ section: Section) {
        hosts = section.has("hosts") ? Self.hosts(section) : nil
        origins = section.has("origins") ? Self.origins(section) : nil
    }

    private static func hosts(_ section: Section) -> [Host] {
        let texts = section.markedStrings("hosts")
        section.reportIfEmpty("hosts", write: "a host such as localhost:8080")
        return texts.compactMap { text in
            if text.text == "any" {
                section.diagnostics.report(
                    "\"any\" is not a valid host; remove \"hosts\" to allow any host",
                    at: text.mark
                )
                return nil
            }
            if let host = Host(text.text) { return host }
            let problem = "\(Diagnostic.quote(text.text)) is not a valid host"
            section.diagnostics.report(
                "\(problem); write localhost:8080, api.internal or \"*.internal\"",
                at: text.mark
            )
            return nil
        }
    }

    private static func origins(_ section: Section) -> Origins {
        let texts = section.markedStrings("origins")
        if texts.count == 1, texts[0].text == "any" { return .any }
        return .listed(
            texts.compactMap { text in
                if let origin = origin(text.text) { return origin }
                let problem = "\(Diagnostic.quote(text.text)) is not a valid origin"
                let advice = "write a scheme and a host such as https://app.example, or any alone"
                section.diagnostics.report("\(problem); \(advice)", at: text.mark)
                return nil
            }
        )
    }

    /// An origin as browsers write it; none if `text` is not a scheme, a host and perhaps a port.
    private static func origin(_ text: String) -> String? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
        let scheme = text[..<colon].lowercased()
        let isGood = scheme.utf8.allSatisfy { 0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 || "+-.".utf8.contains($0) }
        guard isGood, let first = scheme.utf8.first, 0x61...0x7a ~= first else { return nil }
        let authority = String(text[text.index(colon, offsetBy: 3)...])
        let usual: UInt16 = scheme == "http" ? 80 : scheme == "https" ? 443 : 0
        guard let address = HostPort(authority, defaultPort: usual) else { return nil }
        return "\(scheme)://\(address.hostInURL)" + (address.port == usual ? "" : ":\(address.port)")
    }
}

extension HostPort {
    /// The host as a URL has it, an IPv6 address in brackets.
    fileprivate var hostInURL: String { host.contains(":") ? "[\(host)]" : host }
}

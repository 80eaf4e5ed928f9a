extension UpstreamSettings {
    /// How a command on this machine calls a listener of its own daemon, whose certificate may be for another name.
    ///
    /// None for a listener that the file does not say the place of, or that asks callers for certificates.
    ///
    /// - Parameters:
    ///   - listener: the listener.
    ///   - needsHTTP2: whether calls need HTTP/2.
    public init?(calling listener: ListenerSettings, needsHTTP2: Bool) {
        guard listener.tls?.clientAuthorities == nil, let place = Self.place(of: listener.address) else { return nil }
        let url: String
        switch (place, listener.tls) {
        case (.tcp(let address), nil): url = "\(needsHTTP2 ? "h2c" : "http")://\(address)"
        case (.tcp(let address), _): url = "https://\(address)"
        case (.unix(let path), nil): url = (needsHTTP2 ? "unix+h2c:" : "unix:") + path
        case (.unix, _): return nil
        }
        let mark = Mark.start
        var entries = [Node.Entry(key: "url", keyMark: mark, value: .plain(url, at: mark))]
        if listener.tls != nil {
            let insecure = Node.Entry(key: "insecure", keyMark: mark, value: .plain("true", at: mark))
            entries.append(Node.Entry(key: "tls", keyMark: mark, value: Node(.mapping([insecure]), at: mark)))
        }
        let section = Section(Node(.mapping(entries), at: mark), Self.options, into: Diagnostics())
        self.init(NamedSection(name: "listener", mark: mark, section: section))
    }

    private static func place(of address: ListenAddress) -> UpstreamURL.Endpoint? {
        switch address {
        case .tcp(_, 0), .abstract, .systemd: nil
        case .tcp(let host, let port):
            switch host {
            case "localhost", "0.0.0.0": .tcp(HostPort(host: "127.0.0.1", port: port))
            case "::": .tcp(HostPort(host: "::1", port: port))
            default: .tcp(HostPort(host: host, port: port))
            }
        case .unix(let path): .unix(path: path)
        }
    }
}

extension UpstreamSettings {
    /// What stands for an upstream that is in this process, and knows no compression.
    ///
    /// - Parameters:
    ///   - name: the name of what serves the calls.
    ///   - translates: whether it speaks gRPC, to which calls are translated, or whatever callers speak.
    public init(inProcess name: String, translates: Bool) {
        let mark = Mark.start
        let entries =
            [("url", Node.plain("h2c://127.0.0.1:1", at: mark)), ("host", .plain("caller", at: mark))]
            + (translates ? [("speaks", .plain("grpc", at: mark))] : [])
            + [("compressions", Node(.sequence([]), at: mark))]
        let node = Node(.mapping(entries.map { Node.Entry(key: $0, keyMark: mark, value: $1) }), at: mark)
        let section = Section(node, Self.options, into: Diagnostics())
        guard let settings = UpstreamSettings(NamedSection(name: name, mark: mark, section: section)) else {
            preconditionFailure("what stands in the text above is an upstream")
        }
        self = settings
    }
}

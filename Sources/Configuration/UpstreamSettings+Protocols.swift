extension UpstreamSettings {
    /// Reads the protocols the upstream understands; none where it gets those of the callers.
    static func readProtocols(_ section: Section, _ url: UpstreamURL) -> [WireProtocol] {
        section.reportIfEmpty("speaks", write: "the protocols that the upstream understands, for example [grpc]")
        let protocols = section.strings("speaks").compactMap(WireProtocol.init)
        for alone in [WireProtocol.same, .rest] where protocols.contains(alone) && protocols.count > 1 {
            let name = Diagnostic.quote(alone.rawValue)
            section.report("\(name) cannot be in a list; write the protocols, or \(name) alone", at: "speaks")
        }
        if protocols.contains(.grpcWebText), !protocols.contains(.grpcWeb) {
            section.report(
                "\"speaks\" cannot have \"grpc_web_text\" without \"grpc_web\"; write [grpc_web, grpc_web_text]",
                at: "speaks"
            )
        }
        if protocols.contains(.grpc), url.scheme == .http {
            section.report(
                "\"speaks\" cannot be \"grpc\", because \(url) is HTTP/1.1; write an h2c:// or https:// URL",
                at: "speaks"
            )
        }
        return protocols.filter { $0 != .same }
    }

    /// Reads the codecs the upstream understands, which count only beside `speaks`.
    static func readCodecs(_ section: Section, _ protocols: [WireProtocol]) -> [WireCodec] {
        section.reportIfEmpty("codecs", write: "the codecs that the upstream understands, for example [proto]")
        let codecs = section.strings("codecs").compactMap(WireCodec.init)
        if !codecs.isEmpty, protocols.isEmpty { section.reportUnused("codecs", without: "speaks") }
        if !codecs.isEmpty, protocols == [.rest] {
            section.report("\"codecs\" has no effect with speaks: rest, which is JSON; remove it", at: "codecs")
        }
        return codecs
    }
}

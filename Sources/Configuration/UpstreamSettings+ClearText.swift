/// Options that an upstream in clear text does not have.
extension UpstreamSettings {
    /// Reports options that need TLS, if the upstream has none.
    func checkClearText(_ section: Section) {
        if let token = addresses.health?.token, !isConfidential {
            let problem =
                "\"token\" would leave this machine in clear text; write url: https://host, or remove \"token\""
            section.diagnostics.report(problem, at: token.mark)
        }
        if tls == nil, section.has("tls") {
            section.report(
                "\"tls\" has no effect, because \(url) is in clear text; write url: https://host, or remove \"tls\"",
                at: "tls"
            )
        }
    }
}

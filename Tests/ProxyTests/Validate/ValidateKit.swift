import Testing

@testable import Proxy

/// A configuration with the interceptor validate over one upstream, in HTTP/1.1 unless it is said.
func validating(_ options: String, calls: String = "", upstream: String = "http://127.0.0.1:9000", more: String = "")
    -> String
{
    """
    listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
    upstreams: {default: {url: "\(upstream)"\(more.isEmpty ? "" : ", " + more)}}
    calls: {\(calls)}
    interceptors: [{validate: {\(options)}}]
    """
}

/// A response without a body.
func bare(_ status: String, _ fields: String...) -> String {
    (["HTTP/1.1 \(status)"] + fields + ["content-length: 0"]).joined(separator: "\r\n") + "\r\n\r\n"
}

extension ProxyHarness {
    /// How often calls were retried because of a rule.
    var ruleRetries: String? {
        metrics("martlet_retries_total").first { $0.contains(#"reason="rule",result="sent""#) }?
            .split(separator: " ").last.map(String.init)
    }

    /// Why calls were not retried.
    var skipped: [String] {
        metrics("martlet_retries_total").filter { !$0.hasSuffix(" 0") && !$0.contains(#"result="sent""#) }
            .compactMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) }
    }
}

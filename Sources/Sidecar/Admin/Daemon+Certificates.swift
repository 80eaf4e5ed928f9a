internal import Configuration
internal import Proxy
internal import Telemetry

/// What the admin pages tell of the listeners' certificates.
extension Daemon {
    /// One sample for each listener with TLS.
    func certificateSamples(_ value: (CertificateFiles.Entry) -> MetricValue) -> [MetricSample] {
        secured.map { MetricSample([$0.listener], value($0.entry)) }
    }

    /// One line for each listener with TLS, behind a line feed.
    var certificateLines: String {
        secured.map { "\ncertificate of \($0.listener): \($0.entry.problem.map { "rejected: \($0)" } ?? "valid")" }
            .joined()
    }

    private var secured: [(listener: String, entry: CertificateFiles.Entry)] {
        guard let listeners, let certificates else { return [] }
        return listeners.open.values.compactMap { listener in
            guard let entry = listener.settings.tls.flatMap({ certificates.entries[$0] }) else { return nil }
            return (listener.name, entry)
        }
        .sorted { $0.listener < $1.listener }
    }
}

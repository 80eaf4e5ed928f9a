internal import Configuration
internal import Proxy
internal import RPC
internal import Telemetry
internal import Time

/// All metrics of the process.
extension Daemon {
    /// The metrics as they are now, with what the workers have counted.
    func families(_ report: Report) -> [MetricFamily] {
        report.counters.families(codeNames: RPCCode.allCases.map(\.name)) + ownFamilies(report)
            + ProcessMetrics.families
    }

    private func ownFamilies(_ report: Report) -> [MetricFamily] {
        [
            MetricFamily(
                .upstreamInsecure,
                (settings?.upstreams ?? []).compactMap { upstream in
                    upstream.tls.map { MetricSample([upstream.name], .number($0.isInsecure ? 1 : 0)) }
                }
            ),
            MetricFamily(.certificateExpiry, certificateSamples { .number($0.tls.expires) }),
            MetricFamily(
                .certificateReloadSuccessful,
                certificateSamples { .number($0.problem == nil ? 1 : 0) }
            ),
        ] + addressFamilies(report) + cacheFamilies + credentialFamilies + typesFamilies + telemetryFamilies
            + budgets.families
            + [
                MetricFamily(.buildInfo, .number(1), labels: [Version.number]),
                MetricFamily(.ready, .number(readiness.isReady ? 1 : 0)),
                MetricFamily(.configGeneration, .number(reloads.generation)),
                MetricFamily(.configGenerationsLive, .number(report.liveGenerations)),
                MetricFamily(
                    .configReloads,
                    [
                        MetricSample(["success"], .number(reloads.successes)),
                        MetricSample(["error"], .number(reloads.rejections)),
                    ]
                ),
                MetricFamily(.configReloadSuccessful, .number(reloads.lastRejection == nil ? 1 : 0)),
                MetricFamily(.configReloadTime, .nanoseconds(Int(reloads.lastSuccess.nanoseconds))),
            ]
    }
}

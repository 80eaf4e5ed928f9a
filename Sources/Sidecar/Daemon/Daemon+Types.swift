internal import Configuration
internal import Events
internal import Proxy
internal import Telemetry
internal import Time
internal import Types

/// The types that reflection brings.
extension Daemon {
    /// The types that the calls of a configuration go by; those that it names an upstream for are fetched from now on.
    func types(of plan: Plan) -> KnownTypes? {
        guard let manager = reflection ?? (plan.reflection != nil ? makeReflection() : nil) else { return plan.types }
        reflection = manager
        return manager.use(plan)
    }

    private func makeReflection() -> ReflectionManager {
        ReflectionManager(
            loop: loop,
            publish: { [unowned self] types in workers?.post { $0.use(types) } },
            onEvent: { [log, file] event in
                switch event {
                case .known(let report, let files):
                    log.note(report, files)
                    for warning in report.warnings { log.log(.warn, warning.line(file: file.name)) }
                case .failed(let report): log.noteError(report)
                }
            }
        )
    }

    /// What calls that need types lack, for people; none if they lack nothing.
    var missingTypes: String? {
        guard let report = reflection?.report, report.services == nil else { return nil }
        let reason = report.error.map { ": \($0)" } ?? ""
        return "the types of \(report.upstream) are not known yet\(reason)"
    }

    /// What `martlet status` says of reflection.
    var typesLines: [String] {
        guard let report = reflection?.report else { return [] }
        let known = report.services.map { "\($0) services" } ?? "not known yet"
        let time = report.lastSuccess.map { ", fetched at \(TimestampFormatter.text($0))" } ?? ""
        let error = report.error.map { ", last error: \($0)" } ?? ""
        return ["types: of upstream \(report.upstream), \(known)\(time)\(error)"]
    }

    /// Reflection as metric families.
    var typesFamilies: [MetricFamily] {
        let report = reflection?.report
        return [
            MetricFamily(
                .typesRefreshes,
                report.map { report in
                    [
                        MetricSample([report.upstream, "success"], .number(report.succeeded)),
                        MetricSample([report.upstream, "error"], .number(report.failed)),
                    ]
                } ?? []
            ),
            MetricFamily(
                .typesRefreshTime,
                report.flatMap { report in
                    report.lastSuccess.map { [MetricSample([report.upstream], .nanoseconds(Int($0.nanoseconds)))] }
                } ?? []
            ),
        ]
    }
}

extension OperationalLog {
    fileprivate func note(_ report: ReflectionReport, _ files: ReflectedFiles) {
        log(.info, "types known", ("upstream", report.upstream), ("services", "\(report.services ?? 0)"))
        // What types.rest names and nobody lists is mostly misspelt.
        let missing = files.leftOut + report.unknownRESTServices.filter { !files.leftOut.contains($0) }
        guard !missing.isEmpty else { return }
        let names = missing.prefix(8).joined(separator: ", ") + (missing.count > 8 ? ", …" : "")
        log(.warn, "types without some services", ("upstream", report.upstream), ("missing", names))
    }

    fileprivate func noteError(_ report: ReflectionReport) {
        let text = report.services == nil ? "types not known yet" : "types not refreshed, still using the previous ones"
        log(.warn, text, ("upstream", report.upstream), ("reason", report.error ?? ""))
    }
}

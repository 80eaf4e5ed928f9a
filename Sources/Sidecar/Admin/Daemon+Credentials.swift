internal import Bytes
internal import Events
internal import Proxy
internal import Telemetry

/// What is known of one credential; never its value.
struct CredentialReport {
    /// What can be said of it in a word.
    enum State: String {
        /// There is one that may be used.
        case valid
        /// There is none yet, and it is asked for.
        case fetching
        /// There is none, since the last fetch has failed.
        case failed
        /// There is none.
        case none
    }

    /// The name of the interceptor.
    let name: String
    /// Where it comes from, by the key in the file.
    let kind: String
    let state: State
    /// The wall time at which it ends, where that is known.
    let expiry: Nanoseconds?
    /// Why the last fetch has brought none.
    let failure: String?
    var succeeded = 0
    var failed = 0

    /// One that is fetched.
    init(_ kept: CredentialKeeper.Report, named name: String) {
        self.name = name
        kind = kept.source.kind
        expiry = kept.state.credential?.expiry
        failure = kept.state.failure?.text
        succeeded = kept.succeeded
        failed = kept.failed
        let isGood = kept.state.credential != nil && expiry ?? .max > Clock.wall
        state = isGood ? .valid : kept.isFetching ? .fetching : kept.state.failure != nil ? .failed : .none
    }

    /// One that is a file, or fixed.
    init(_ named: NamedCredential, hasValue: Bool, failure: String?) {
        name = named.name
        kind = named.source.kind
        state = hasValue ? .valid : .failed
        expiry = nil
        self.failure = failure
    }

    /// Appends it as a JSON object.
    func append(to queue: ByteQueue) {
        queue.append("{\"name\":")
        queue.append(json: name)
        queue.append(",\"kind\":")
        queue.append(json: kind)
        queue.append(",\"state\":")
        queue.append(json: state.rawValue)
        if let expiry {
            queue.append(",\"expires_at\":")
            // Down, also before 1970.
            let (whole, part) = expiry.quotientAndRemainder(dividingBy: .second)
            let (seconds, rest) = part < 0 ? (whole - 1, part + .second) : (whole, part)
            queue.append("\"")
            TimestampFormatter().append(seconds: Int(seconds), nanoseconds: Int(rest), to: queue)
            queue.append("\"")
        }
        queue.append(",\"last_error\":")
        if let failure { queue.append(json: failure) } else { queue.append("null") }
        queue.append("}")
    }
}

extension Daemon {
    /// What is known of the credentials that the configuration names, in the order of the file.
    var credentialReports: [CredentialReport] {
        namedCredentials.map { named in
            if let kept = credentials?.report(on: named.source) { return CredentialReport(kept, named: named.name) }
            guard case .file(let path) = named.source else {
                return CredentialReport(named, hasValue: true, failure: nil)
            }
            return CredentialReport(
                named,
                hasValue: tokens?.hasToken(path) ?? false,
                failure: tokens?.fault(of: path).map { "\(path): \($0)" }
            )
        }
    }

    /// The names of the credentials that calls would lack now.
    var missingCredentials: [String] {
        credentialReports.filter { $0.state != .valid }.map(\.name)
    }

    /// Credentials as metric families.
    var credentialFamilies: [MetricFamily] {
        let reports = credentialReports
        return [
            MetricFamily(
                .credentialExpiry,
                reports.compactMap { report in
                    report.expiry.map { MetricSample([report.name], .nanoseconds(Int($0))) }
                }
            ),
            MetricFamily(
                .credentialRefreshes,
                reports.filter { $0.kind != "value" && $0.kind != "file" }.flatMap { report in
                    [
                        MetricSample([report.name, "success"], .number(report.succeeded)),
                        MetricSample([report.name, "failure"], .number(report.failed)),
                    ]
                }
            ),
        ]
    }
}

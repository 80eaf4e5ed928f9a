internal import Credentials
internal import Events
internal import Proxy
internal import Telemetry
internal import Time

/// What is known of one credential; never its value.
struct CredentialReport {
    /// What can be said of it in a word.
    enum State: String {
        /// There is one that may be used.
        case valid
        /// There is none yet, and it is asked for.
        case fetching
        /// There is one that is good no more.
        case expired
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
    let expiry: WallTime?
    /// Why the last fetch has brought none.
    let error: String?
    var succeeded = 0
    var failed = 0

    /// One that is fetched.
    init(_ kept: CredentialManager.Report, named name: String) {
        self.name = name
        kind = kept.source.kind
        expiry = kept.state.credential?.expiry
        error = kept.state.error?.text
        succeeded = kept.succeeded
        failed = kept.failed
        let lacking: State = kept.state.error != nil ? .failed : kept.state.credential != nil ? .expired : .none
        state = kept.isValid ? .valid : kept.isFetching ? .fetching : lacking
    }

    /// One that is a file, or fixed.
    init(_ named: NamedCredential, hasValue: Bool, expiry: WallTime?, error: String?) {
        name = named.name
        kind = named.source.kind
        let isGood = expiry ?? .max > Clock.system.wall
        state = !hasValue ? .failed : isGood ? .valid : .expired
        self.expiry = hasValue ? expiry : nil
        self.error = error
    }

    /// When it ends, or has ended, for people.
    var expiryText: String? { expiry.map { TimestampFormatter.text($0) } }

    /// Adds its fields to a JSON object.
    func write(to json: inout JSONWriter) {
        json.field("name", string: name)
        json.field("kind", string: kind)
        json.field("state", string: state.rawValue)
        if let expiryText { json.field("expires_at", string: expiryText) }
        if let error { json.field("last_error", string: error) } else { json.null("last_error") }
    }
}

extension CredentialSource {
    /// The wall time at which a fixed one ends, if it says so.
    fileprivate var fixedExpiry: WallTime? {
        if case .fixed(let value) = self { JWT.expiry(of: value) } else { nil }
    }
}

extension Daemon {
    /// What is known of the credentials that the configuration names, in the order of the file.
    var credentialReports: [CredentialReport] {
        guard let credentials else { return [] }
        return credentials.named.map { named in
            if let kept = credentials.manager.report(on: named.source) {
                return CredentialReport(kept, named: named.name)
            }
            guard case .file(let path) = named.source else {
                return CredentialReport(named, hasValue: true, expiry: named.source.fixedExpiry, error: nil)
            }
            return CredentialReport(
                named,
                hasValue: credentials.files.hasToken(path),
                expiry: credentials.files.expiry(of: path),
                error: credentials.files.error(of: path).map { "\(path): \($0)" }
            )
        }
    }

    /// The names of the credentials that calls would lack now, each with its end if that is why.
    var missingCredentials: [String] {
        credentialReports.filter { $0.state != .valid }.map { report in
            guard report.state == .expired, let expiry = report.expiryText else { return report.name }
            return "\(report.name) (expired at \(expiry))"
        }
    }

    /// Credentials as metric families.
    var credentialFamilies: [MetricFamily] {
        let reports = credentialReports
        return [
            MetricFamily(
                .credentialExpiry,
                reports.compactMap { report in
                    report.expiry.map { MetricSample([report.name], .nanoseconds(Int($0.nanoseconds))) }
                }
            ),
            MetricFamily(
                .credentialRefreshes,
                reports.filter { $0.kind != "value" && $0.kind != "file" }.flatMap { report in
                    [
                        MetricSample([report.name, "success"], .number(report.succeeded)),
                        MetricSample([report.name, "error"], .number(report.failed)),
                    ]
                }
            ),
        ]
    }
}

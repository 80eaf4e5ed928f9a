internal import Configuration
internal import Events
internal import Proxy

/// The files of the listeners' certificates, which are read again when they change.
///
/// A change that is no good, such as a key without its certificate yet, leaves what was there before in use.
final class CertificateFiles {
    /// A listener's TLS, as it is in use.
    struct Entry {
        var tls: ListenerTLS
        /// What is wrong with the files as they are now; nil if nothing is.
        var problem: String?
    }

    private let log: OperationalLog
    private let changed: (ListenerTLSSettings, ListenerTLS) -> Void
    private(set) var entries: [ListenerTLSSettings: Entry] = [:]
    private var files: SettledFiles?

    /// Starts to watch; `changed` is told of what new connections are to get.
    init(loop: EventLoop, log: OperationalLog, changed: @escaping (ListenerTLSSettings, ListenerTLS) -> Void) {
        self.log = log
        self.changed = changed
        files = SettledFiles(loop: loop, log: log) { [unowned self] in readAgain($0) }
    }

    /// Watches the files of these from now on, and no others.
    func use(_ listeners: [ListenerTLSSettings: ListenerTLS]) {
        entries = listeners.mapValues { Entry(tls: $0, problem: nil) }
        let new = files?.use(Set(listeners.keys.flatMap { $0.files.map(\.path) })) ?? []
        // They were read before they were watched.
        readAgain(new.sorted())
    }

    private func readAgain(_ paths: [String]) {
        for settings in entries.keys where settings.files.contains(where: { paths.contains($0.path) }) {
            let diagnostics = Diagnostics()
            let file = settings.identity.certificate.path
            if let tls = ListenerTLS(settings, into: diagnostics) {
                entries[settings]?.problem = nil
                guard tls != entries[settings]?.tls else { continue }
                entries[settings]?.tls = tls
                log.log(.info, "certificate changed", ("file", file))
                changed(settings, tls)
            } else {
                let problem = (diagnostics.sorted + diagnostics.lacks).map(\.message).joined(separator: "; ")
                for file in settings.files { files?.checkAgain(at: file.path) }
                guard entries[settings]?.problem != problem else { continue }
                entries[settings]?.problem = problem
                log.log(
                    .error,
                    "certificate rejected, still using the previous one",
                    ("file", file),
                    ("reason", problem)
                )
            }
        }
    }
}

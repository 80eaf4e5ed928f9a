/// A page of the admin socket, by the word that `pages` uses.
public enum AdminPage: String, CaseIterable, Sendable {
    /// Whether the process lives.
    case healthz
    /// Whether it serves, and has its tokens.
    case readyz
    /// The metrics.
    case metrics
    /// What `martlet status` prints.
    case status
    /// The configuration in use.
    case config
    /// The calls that ended last.
    case calls
    /// The state of the credentials.
    case credentials
    /// The mocks: what they have served, and their signals.
    case mocks
    /// Removes responses from caches.
    case cache
    /// The page for browsers, on the path of the list of pages.
    case dashboard
    /// Calls as they happen, with their messages, and how to repeat them.
    case tap
    /// Loads the configuration again.
    case reload
    /// Starts the program anew, which takes over.
    case upgrade
    /// Stops the daemon gracefully.
    case drain

    /// Whether the page may be served to other machines: it changes nothing and shows nothing of a call.
    public var isForOthers: Bool { [.healthz, .readyz, .metrics].contains(self) }
}

/// One socket of the admin pages.
public struct AdminSettings: Equatable, Sendable {
    /// An IP address and a port, or a Unix socket in the file system.
    public let address: ListenAddress
    /// Who may connect to a Unix socket: by default the user of the process alone.
    public let permissions: SocketPermissions
    /// The pages that the socket serves.
    public let pages: Set<AdminPage>
    /// Whether the file names the socket; if not, Martlet serves without it where it cannot be opened.
    public let isRequired: Bool
    /// Where the file names the address; the start of the file if it does not.
    @NotCompared public private(set) var mark: Mark = .start

    /// The mode of a Unix socket if the file names none: callers share a group with the service, operators do not.
    public static let mode: UInt32 = 0o600

    /// Serves all pages on a Unix socket at `path`, if it can be opened.
    public init(path: String) {
        address = .unix(path: path)
        permissions = SocketPermissions(mode: Self.mode)
        pages = Set(AdminPage.allCases)
        isRequired = false
    }

    /// Whether the socket serves every page but perhaps the tap, so that commands can use it.
    public var servesAllPages: Bool { pages.union([.tap]).count == AdminPage.allCases.count }

    static let options =
        [
            Option(
                "address",
                .string,
                required: true,
                example: "127.0.0.1:9901",
                "The address of the admin pages. On `unix:@name` it serves only root and the user of the daemon."
            ),
            SocketPermissions.modeOption(default: mode),
        ] + SocketPermissions.ownerOptions() + [
            Option(
                "allow_remote",
                .bool,
                default: "false",
                """
                Allows an address that other machines can reach. It can then serve only `metrics`, `healthz` and \
                `readyz`.
                """
            ),
            Option(
                "pages",
                .choices(AdminPage.allCases.map(\.rawValue)),
                example: "[metrics, healthz, readyz]",
                "The pages that this address serves. The default is all pages but `tap`, which `tap` decides."
            ),
            Option(
                "tap",
                .bool,
                """
                Whether this address shows calls as they happen, with headers and messages. The default is `true` for \
                a Unix socket, and `false` for TCP, which every local user can reach.
                """
            ),
        ]

    /// Reads one socket; none if its address is missing or wrong, which is reported.
    init?(_ section: Section) {
        guard let text = section.string(ifGiven: "address") else { return nil }
        let address = ListenAddress(text)
        permissions = SocketPermissions(section, for: address, keys: ["mode", "owner", "group"], mode: Self.mode)
        let named = section.strings("pages").compactMap(AdminPage.init)
        var pages = Set(section.has("pages") ? named : AdminPage.allCases.filter { $0 != .tap })
        let isUnix = text.hasPrefix("unix:")
        if section.has("tap") ? section.bool("tap") : isUnix && !section.has("pages") { pages.insert(.tap) }
        if section.has("tap"), !section.bool("tap") { pages.remove(.tap) }
        self.pages = pages
        isRequired = true
        mark = section.mark(of: "address")
        switch address {
        case .tcp, .unix, .abstract: self.address = address!
        case .systemd, nil:
            let problem = "\(Diagnostic.quote(text)) is not a valid admin address"
            section.report("\(problem); write 127.0.0.1:9901, unix:/path or unix:@name", at: "address")
            return nil
        }
        section.reportIfEmpty("pages", write: "a page such as metrics")
        if !self.address.isLocal { checkRemote(section) }
    }

    /// Reports what other machines must not reach.
    private func checkRemote(_ section: Section) {
        let safe = "pages: [metrics, healthz, readyz]"
        guard section.bool("allow_remote"), section.has("pages") else {
            let advice = "write 127.0.0.1:9901 or unix:/path, or add allow_remote: true and \(safe)"
            return section.report("other machines can reach \(address); \(advice)", at: "address")
        }
        if section.has("tap"), section.bool("tap") {
            let problem = "other machines can reach \(address), but the tap is only for this machine"
            section.report("\(problem); remove \"tap\"", at: "tap")
        }
        for page in section.markedStrings("pages") where AdminPage(rawValue: page.text)?.isForOthers == false {
            let problem = "other machines can reach \(address), but the page \(page.text) is only for this machine"
            section.diagnostics.report("\(problem); write \(safe)", at: page.mark)
        }
    }
}

/// The socket of the admin pages.
public struct AdminSettings: Equatable, Sendable {
    /// A loopback address, or a Unix socket in the file system.
    public let address: ListenAddress
    /// Who may connect to a Unix socket.
    public let permissions: SocketPermissions
    /// Where the file names the address; the start of the file if it does not.
    @NotCompared public private(set) var mark: Mark = .start

    /// Puts the admin pages on `address`, which must not be reachable from other machines.
    public init(address: ListenAddress, permissions: SocketPermissions = SocketPermissions()) {
        self.address = address
        self.permissions = permissions
    }

    static let options = [
        Option("address", .string, required: true, example: "127.0.0.1:9901", "Where the admin pages are served."),
        SocketPermissions.modeOption,
    ]

    /// Reads the admin socket; none if its address is missing or wrong, which is reported.
    init?(_ section: Section) {
        guard let text = section.string(ifGiven: "address") else { return nil }
        let address = ListenAddress(text)
        permissions = SocketPermissions(section, for: address, keys: ["mode"])
        mark = section.mark(of: "address")
        switch address {
        case .tcp, .unix: self.address = address!
        case .abstract, .systemd, nil:
            let problem = "\(Diagnostic.quote(text)) is no address for the admin pages"
            section.report("\(problem); write 127.0.0.1:9901 or unix:/path", at: "address")
            return nil
        }
        if !self.address.isLocal {
            let problem = "other machines can reach \(self.address)"
            section.report("\(problem); the admin pages take 127.0.0.1:9901 or unix:/path", at: "address")
        }
    }
}

/// Who may connect to a Unix socket in the file system.
public struct SocketPermissions: Equatable, Sendable {
    /// The permission bits, such as 0o660.
    public var mode: UInt32
    /// The user who owns the socket, by name or number; none leaves it to the process.
    public var owner: String?
    /// The group of the socket, by name or number; none leaves it to the process.
    public var group: String?

    /// Says who may connect.
    public init(mode: UInt32 = 0o660, owner: String? = nil, group: String? = nil) {
        self.mode = mode
        self.owner = owner
        self.group = group
    }

    /// The option for the permission bits, where `mode` stands if the file gives none.
    static func modeOption(default mode: UInt32) -> Option {
        Option(
            "mode",
            .string,
            example: "\"0660\"",
            "The permissions of a Unix socket in octal digits. The default is 0\(String(mode, radix: 8))."
        )
    }

    /// The options for the owner and the group; `more` says which group is the default.
    static func ownerOptions(_ more: String = "") -> [Option] {
        [
            Option("owner", .string, example: "app", "The owner of a Unix socket, by name or number."),
            Option("group", .string, example: "app", "The group of a Unix socket, by name or number.\(more)"),
        ]
    }

    /// Reads the options above from `section` and reports them where there is no file for them.
    init(_ section: Section, for address: ListenAddress?, keys: [String], mode fallback: UInt32 = 0o660) {
        self.init(mode: fallback)
        if let bits = section.fileMode("mode") { mode = bits }
        if keys.contains("owner") { owner = section.string(ifGiven: "owner") }
        if keys.contains("group") { group = section.string(ifGiven: "group") }
        guard let address, !address.isFile else { return }
        for key in keys where section.has(key) {
            section.report(
                "\"\(key)\" has no effect without a Unix socket; listen on unix:/path, or remove it",
                at: key
            )
        }
    }

}

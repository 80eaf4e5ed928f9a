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

    static let modeOption = Option(
        "mode",
        .string,
        example: "\"0660\"",
        "The permission bits of a Unix socket in octal digits; 0660 if absent."
    )

    static let ownerOptions = [
        Option("owner", .string, example: "app", "The user who owns a Unix socket, by name or number."),
        Option("group", .string, example: "app", "The group of a Unix socket, by name or number."),
    ]

    /// Reads the options above from `section` and reports them where there is no file for them.
    init(_ section: Section, for address: ListenAddress?, keys: [String]) {
        self.init()
        if let text = section.string(ifGiven: "mode") {
            if let bits = Self.bits(text) { mode = bits } else { Self.reportMode(text, in: section) }
        }
        if keys.contains("owner") { owner = section.string(ifGiven: "owner") }
        if keys.contains("group") { group = section.string(ifGiven: "group") }
        guard let address, !address.isFile else { return }
        for key in keys where section.has(key) {
            section.report("\"\(key)\" is for Unix sockets; remove it, or listen on unix:/path", at: key)
        }
    }
    private static func bits(_ text: String) -> UInt32? {
        guard 3...4 ~= text.utf8.count, text.allSatisfy(\.isASCIIDigit), let bits = UInt32(text, radix: 8) else {
            return nil
        }
        return bits <= 0o777 ? bits : nil
    }

    private static func reportMode(_ text: String, in section: Section) {
        let problem = "\"mode\" cannot be \(Diagnostic.quote(text))"
        section.report("\(problem); write octal digits such as \"0660\"", at: "mode")
    }
}

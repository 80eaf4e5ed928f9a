/// A file that the configuration names: by its path, or as a credential that systemd hands to the service.
public struct NamedFile: Hashable, Sendable {
    /// How a file is named.
    public enum Place: Hashable, Sendable {
        /// By its path.
        case path(String)
        /// By the name of a credential (systemd.exec(5), `LoadCredential=`).
        case credential(String)
    }

    /// How the file is named.
    public let place: Place
    /// Where it is named.
    @NotCompared public private(set) var mark: Mark

    /// Names a file by its path.
    public init(path: String, at mark: Mark) {
        self.init(.path(path), at: mark)
    }

    private init(_ place: Place, at mark: Mark) {
        self.place = place
        self.mark = mark
    }

    /// The options of a section that names a file, which is read; with `use` nil a path may stand for something else.
    static func options(use: FileUse? = .read) -> [Option] {
        let example = "/etc/martlet/tls/server.pem"
        return [
            Option("file", .string, oneOf: "file", file: use, example: example, "The path of the file."),
            credential(oneOf: "file"),
        ]
    }

    /// The option that names a credential, beside the others of a group.
    public static func credential(oneOf group: String) -> Option {
        Option(
            "credential",
            .string,
            oneOf: group,
            example: "token",
            "The credential of systemd: the file of this name in `$CREDENTIALS_DIRECTORY`."
        )
    }

    /// Reads `file` or `credential` of a section; nil if there is neither, or a name that no credential has, which is
    /// reported.
    public init?(_ section: Section) {
        if let path = section.marked("file") {
            self.init(path: path.text, at: path.mark)
        } else if let name = section.marked("credential") {
            guard Self.isCredential(name.text) else {
                let problem = "\(Diagnostic.quote(name.text)) is not the name of a credential"
                section.report("\(problem); write a file name without a directory, such as token", at: "credential")
                return nil
            }
            self.init(.credential(name.text), at: name.mark)
        } else {
            return nil
        }
    }

    /// Whether it is a credential: something that only the service has, and not a command that checks its file.
    public var isCredential: Bool {
        if case .credential = place { true } else { false }
    }

    /// Whether systemd can have a credential of this name: the name of a file, and of a descriptor.
    private static func isCredential(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy {
            0x20...0x7e ~= $0 && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":")
        }
        return isPlain && 1...255 ~= name.utf8.count && name != "." && name != ".."
    }
}

extension Section {
    /// The file that the section below `key` names; nil if there is none, or it is wrong and was reported.
    func file(_ key: String) -> NamedFile? {
        has(key) ? NamedFile(section(key)) : nil
    }
}

extension Option {
    /// An option whose value is the path of a file, or names one otherwise.
    static func file(
        _ key: String,
        required: Bool = false,
        use: FileUse? = .read,
        example: String,
        _ documentation: String
    ) -> Option {
        Option(
            key,
            .section(NamedFile.options(use: use), shorthand: "file"),
            required: required,
            example: example,
            documentation
        )
    }
}

/// Something that a configuration needs of the system, with its place in the file: a sandbox has to allow it.
public struct SystemNeed: Hashable, Sendable {
    /// What is needed.
    public enum Kind: Hashable, Sendable {
        /// A file is read, or what is in a directory, also when another has taken its place.
        case reads(String)
        /// A file is written, or files are made in a directory.
        case writes(String)
        /// A program is started; its path.
        case starts(String)
        /// Connections go to a TCP port.
        case connects(UInt16)
        /// Connections go to a Unix socket; its path.
        case connectsToSocket(String)
        /// Connections go to TCP ports that are known only at run time.
        case connectsAnywhere
    }

    /// What is needed.
    public let kind: Kind
    /// Where the file says so.
    @NotCompared public private(set) var mark: Mark

    /// Places a need at `mark`.
    public init(_ kind: Kind, at mark: Mark) {
        self.kind = kind
        self.mark = mark
    }
}

/// What becomes of the file that an option names.
public enum FileUse: Equatable, Sendable {
    /// It is read, as often as it changes.
    case read
    /// It is written, or files are made in it.
    case write
    /// It is started, with the other words of the option as its arguments.
    case start
}

extension Option {
    /// What a value of the option needs of the system.
    func needs(of value: OptionValue?, at mark: Mark) -> [SystemNeed] {
        guard let file else { return [] }
        let paths: [MarkedString] =
            switch value {
            case .string(let path): [MarkedString(path, at: mark)]
            case .strings(let words): file == .start ? Array(words.prefix(1)) : words
            default: []
            }
        return paths.map { path in
            switch file {
            case .read: SystemNeed(.reads(path.text), at: path.mark)
            case .write: SystemNeed(.writes(path.text), at: path.mark)
            case .start: SystemNeed(.starts(path.text), at: path.mark)
            }
        }
    }
}

/// One option of a thing that the file describes: the single place that states its key, type, default and meaning.
///
/// The table of a thing, `[Option]`, is what `Section` reads a mapping by; the same table fills defaults in, names the
/// known keys in error messages, and is written out as reference page and JSON Schema.
///
/// A kind of interceptor declares its own:
///
/// ```swift
/// static let options: [Option] = [
///     Option("file", .string, oneOf: "source", example: "/run/secrets/token", "The file that holds the token."),
///     Option("env", .string, oneOf: "source", "The environment variable that holds the token."),
///     Option("header", .string, default: "authorization", "The request header that carries the token."),
///     Option("allow_clear_text", .bool, default: "false", "Whether the token may leave the machine unencrypted."),
/// ]
/// ```
public struct Option: Equatable, Sendable {
    /// The type of an option's value, and with it how the value is written.
    public enum Kind: Equatable, Sendable {
        /// Any scalar, taken as text.
        case string
        /// `true` or `false`.
        case bool
        /// A length of time that may be zero: `100us`, `250ms`, `2s`, `5m`, `1h`; `none` has no end.
        case duration
        /// A length of time that may not be zero: `100us`, `250ms`, `2s`, `5m`, `1h`; `none` has no end.
        case timeout
        /// A number of bytes: `512B`, `64KiB`, `4MiB`, `1GiB`, or plain digits.
        case size(in: ClosedRange<Int>)
        /// A number of bytes, or `none` for no limit.
        case sizeLimit(in: ClosedRange<Int>)
        /// A whole number.
        case integer(in: ClosedRange<Int>)
        /// A whole number, or `auto`.
        case integerOrAuto(in: ClosedRange<Int>)
        /// One of the given words.
        case choice([String])
        /// One of the given words or a list of them.
        case choices([String])
        /// A string or a list of strings.
        case strings
        /// A whole number or a list of them.
        case integers(in: ClosedRange<Int>)
        /// A mapping from names to strings.
        case map
        /// A mapping with its own table. A scalar stands for the option that `shorthand` names, if it names one.
        case section([Option], shorthand: String? = nil)
        /// A list of such mappings.
        case sections([Option], shorthand: String? = nil)
        /// A mapping from free names to such mappings.
        case named([Option], shorthand: String? = nil)
        /// Anything; whoever asks for it reads the node, and `shape` says what is taken.
        case node
    }

    /// The key.
    public let key: String
    /// The type of the value.
    public let kind: Kind
    /// What the value looks like, in more words than `kind` where that is `.node`.
    public let shape: Shape
    /// The value that stands where none is given, as it would be written in the file.
    public let fallback: String?
    /// Whether the key must be given.
    public let isRequired: Bool
    /// The group of options this one belongs to: exactly one of a group must be given.
    public let group: String?
    /// What becomes of the file that the value is the path of; none if the value is no path.
    public let file: FileUse?
    /// A value to show in error messages and in the documentation, as it would be written in the file.
    public let example: String?
    /// What the option does: sentences for the reference page.
    public let documentation: String

    /// Declares an option.
    ///
    /// - Parameters:
    ///   - key: the key in the mapping.
    ///   - kind: the type of the value.
    ///   - shape: what the value looks like, where `kind` is `.node`; anything if absent.
    ///   - fallback: the value where none is given, as it would be written in the file; a good value of `kind`.
    ///   - isRequired: whether the key must be given.
    ///   - group: a name shared by options of which exactly one must be given.
    ///   - file: what becomes of the file that the value is the path of, so that the sandbox allows it.
    ///   - example: a good value to show.
    ///   - documentation: what the option does, in sentences.
    public init(
        _ key: String,
        _ kind: Kind,
        shape: Shape? = nil,
        default fallback: String? = nil,
        required isRequired: Bool = false,
        oneOf group: String? = nil,
        file: FileUse? = nil,
        example: String? = nil,
        _ documentation: String
    ) {
        self.key = key
        self.kind = kind
        self.shape = shape ?? (kind == .node ? .anything : .value(kind))
        self.fallback = fallback
        self.isRequired = isRequired
        self.group = group
        self.file = file
        self.example = example
        self.documentation = documentation
    }
}

extension Option {
    /// Whether a list that is the value has to have an item: one that must be given says nothing without any.
    public var needsItems: Bool {
        guard isRequired || group != nil else { return false }
        return switch kind {
        case .strings, .choices, .integers: true
        default: false
        }
    }
}

extension [Option] {
    /// The options of which exactly one must be given, group by group, in the order of the table.
    public var groups: [[Option]] {
        var names: Set<String> = []
        return compactMap(\.group).filter { names.insert($0).inserted }.map { name in filter { $0.group == name } }
    }
}

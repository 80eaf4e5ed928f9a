/// The value of an option after it was read: as given in the file, or else its default.
enum OptionValue {
    case string(String)
    case bool(Bool)
    /// None is `none`: no end.
    case duration(Duration?)
    /// None is `auto`.
    case integer(Int?)
    case strings([MarkedString])
    case integers([Int])
    case map([NamedString])
    case section(Section)
    case sections([Section])
    case named([NamedSection])
    case node(Node)
}

/// A string with its place in the file.
public struct MarkedString: Equatable, Sendable {
    /// The string.
    public let text: String
    /// Where it stands.
    @NotCompared public private(set) var mark: Mark

    /// Places `text` at `mark`.
    public init(_ text: String, at mark: Mark) {
        self.text = text
        self.mark = mark
    }
}

/// A name with a string: one entry of a mapping such as header names to values.
public struct NamedString: Equatable, Sendable {
    /// The name.
    public let name: String
    /// Where the name stands.
    @NotCompared public private(set) var nameMark: Mark
    /// The string.
    public let text: String
    /// Where the string stands.
    @NotCompared public private(set) var mark: Mark

    /// Joins `text` to its name.
    public init(name: String, nameMark: Mark, text: String, mark: Mark) {
        self.name = name
        self.nameMark = nameMark
        self.text = text
        self.mark = mark
    }
}

/// A free name with the section below it, such as an upstream.
public struct NamedSection {
    /// The name.
    public let name: String
    /// Where the name stands.
    public let mark: Mark
    /// What stands below the name.
    public let section: Section
}

/// A free name with the section below it, such as an upstream.
public struct NamedSection {
    /// The name.
    public let name: String
    /// Where the name stands.
    public let mark: Mark
    /// What stands below the name.
    public let section: Section
}

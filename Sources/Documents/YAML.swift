public import Configuration

/// Reads YAML 1.1 as far as a configuration file needs it: one document of mappings, lists and scalars.
///
/// Aliases are followed, and what they stand for counts each time. Tags other than those of plain types, merge keys and
/// keys that are not scalars are rejected.
public enum YAML {
    /// The most bytes of a file, and of all its scalars after aliases were followed.
    public static let maxText = 16 << 20
    /// The most values of a file after aliases were followed.
    public static let maxNodes = 200_000
    /// The deepest nesting of values.
    public static let maxDepth = 64

    /// Reads one document with the place of every value.
    ///
    /// - Parameters:
    ///   - text: the file.
    ///   - diagnostics: where errors go, each with its position.
    /// - Returns: the document; none if the text is empty or cannot be read as YAML.
    public static func parse(_ text: [UInt8], into diagnostics: Diagnostics) -> Node? {
        guard text.count <= maxText else {
            diagnostics.report("the file is longer than 16MiB; split it", at: .start)
            return nil
        }
        var composer = YAMLComposer(YAMLEvents(text), diagnostics)
        do {
            return try composer.document()
        } catch {
            diagnostics.report(error.message, at: error.mark)
            return nil
        }
    }
}

/// What is wrong with descriptor sets.
public struct TypeSetError: Error, Sendable, Equatable {
    /// A fault of one set.
    public struct Problem: Error, Sendable, Equatable {
        /// The `source` of the set.
        public let source: String
        /// What is wrong, in words.
        public let text: String
    }

    /// Everything that is wrong, in the order of the sets; never empty.
    public let problems: [Problem]
}

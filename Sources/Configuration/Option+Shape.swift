extension Option {
    /// What the values of an option look like: for the reference page and the JSON Schema, not for reading.
    public indirect enum Shape: Equatable, Sendable {
        /// Anything.
        case anything
        /// What options of this kind take.
        case value(Kind)
        /// A list of interceptors.
        case chain
        /// A mapping from free names to values of this shape.
        case named(Shape)
        /// One of these shapes.
        case either([Shape])
    }
}

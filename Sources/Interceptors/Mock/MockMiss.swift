/// The reason why the nearest rule does not apply, for logs and the journal.
struct MockMiss {
    /// The reason in words.
    let text: String
    /// The position of the nearest rule, if there is one.
    let position: String?

    /// Creates a reason; `nearest` is the rule that came closest to applying.
    init(_ text: String, nearest: MockRule? = nil) { (self.text, position) = (text, nearest?.place) }
}

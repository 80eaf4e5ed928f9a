/// The reason why no rule of a mock applies to a call.
struct MockMiss {
    /// What lacks of the nearest rule, for people.
    let text: String
    /// The position of the nearest rule, if there is one.
    let place: String?

    /// Creates a reason; `nearest` is the rule that came nearest, if one did.
    init(_ text: String, nearest: MockRule? = nil) { (self.text, place) = (text, nearest?.place) }
}

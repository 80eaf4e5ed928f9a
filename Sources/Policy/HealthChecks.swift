/// What the health checks of one address have come to, as a pure value.
package struct HealthChecks: Sendable {
    private let up: Int
    private let down: Int
    /// Whether the address gets no calls.
    package private(set) var isDown = false
    /// How many checks in a row have said the opposite.
    private var contrary = 0

    /// Makes what no check has been made of.
    ///
    /// - Parameters:
    ///   - up: how many successes in a row bring the address back.
    ///   - down: how many failures in a row put it out.
    ///   - isDown: whether other checks have put it out before.
    package init(up: Int, down: Int, isDown: Bool = false) { (self.up, self.down, self.isDown) = (up, down, isDown) }

    /// A check has come to an end.
    package mutating func note(hasSucceeded: Bool) {
        guard hasSucceeded == isDown else {
            contrary = 0
            return
        }
        contrary += 1
        guard contrary >= (isDown ? up : down) else { return }
        (isDown, contrary) = (!isDown, 0)
    }
}

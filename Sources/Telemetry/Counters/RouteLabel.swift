/// The value of the label `route`: what a call is counted under, whichever configuration it began with.
enum RouteLabel: Hashable, Comparable, Sendable {
    /// No route took the call.
    case none
    /// A route without a name, by its number in the file, from 0.
    case number(Int)
    /// A route with a name.
    case name(String)

    /// The value of the label.
    var text: String {
        switch self {
        case .none: "none"
        case .number(let number): "\(number)"
        case .name(let name): name
        }
    }
}

internal import Bytes

/// The names that routes have or have had, so that a call is counted under an integer.
///
/// A name keeps its row through reloads, wherever its route stands in the file.
struct RouteNames {
    private var names: [String] = []
    private var rows: [[UInt8]: Int] = [:]

    /// What a route of that name is counted under.
    mutating func counter(named name: [UInt8]) -> RouteCounter {
        if let known = rows[name] { return .row(known) }
        rows[name] = names.count
        names.append(name.span.string)
        return .row(names.count - 1)
    }

    /// The label that `counter` stands for.
    func label(of counter: RouteCounter) -> RouteLabel {
        guard let row = counter.row else { return counter.number.map(RouteLabel.number) ?? .none }
        return .name(names[row])
    }
}

/// Names the counters of one upstream in one worker; good for as long as the counters live.
public struct UpstreamCounter: Sendable {
    let row: Int
}

/// Names the counters of one interceptor in one worker; good for as long as the counters live.
public struct InterceptorCounter: Sendable {
    let row: Int
}

/// Names the counters of one listener in one worker; good for as long as the counters live.
public struct ListenerCounter: Sendable {
    let row: Int
}

/// What the calls of a route are counted under in one worker; good for as long as the counters live.
public struct RouteCounter: Hashable, Sendable {
    /// Odd for the row of a name; even for a number, and 0 for no route.
    let id: Int

    /// No route took the call.
    public static let none = RouteCounter(id: 0)

    /// A route without a name, by its number in the file, from 0.
    public static func number(_ number: Int) -> RouteCounter {
        RouteCounter(id: (number + 1) << 1)
    }

    static func row(_ row: Int) -> RouteCounter {
        RouteCounter(id: row << 1 | 1)
    }

    /// The row of the route's name, if it has one.
    var row: Int? { id & 1 == 1 ? id >> 1 : nil }

    /// The number of a route without a name.
    var number: Int? { id & 1 == 0 && id > 0 ? id >> 1 - 1 : nil }
}

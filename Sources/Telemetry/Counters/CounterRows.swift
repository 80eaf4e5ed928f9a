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

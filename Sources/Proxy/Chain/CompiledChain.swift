internal import Telemetry

/// A chain as a worker runs it: its interceptors, and for each event those that asked for it.
final class CompiledChain {
    /// One interceptor and the calls it takes part in.
    struct Link {
        let name: String
        let condition: Condition?
        let interceptor: any Interceptor
        let events: EventSet
        /// Where the verdicts of the interceptor are counted.
        let counter: InterceptorCounter
    }

    /// The most interceptors of a chain; those a call has entered are kept as bits of a word.
    static let longest = 64

    let links: [Link]
    let onResponseHead: [Int]
    let onResponseTrailers: [Int]
    let onFinished: [Int]
    /// Whether some interceptor makes an instance for each call.
    let hasInstances: Bool
    /// Whether some interceptor wants to know how many messages a call had.
    let countsMessages: Bool

    init(_ links: [Link]) {
        precondition(links.count <= Self.longest)
        self.links = links
        let asking = { (event: EventSet) in links.indices.reversed().filter { links[$0].events.contains(event) } }
        onResponseHead = asking(.responseHead)
        onResponseTrailers = asking(.responseTrailers)
        onFinished = asking(.finished)
        countsMessages = links.contains { $0.events.contains(.messageCounts) }
        hasInstances = links.contains { $0.interceptor.forCall() !== $0.interceptor }
    }
}

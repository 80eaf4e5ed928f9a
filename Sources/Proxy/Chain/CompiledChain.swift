internal import Bytes
internal import Configuration
internal import Protocols
internal import Telemetry

/// A chain as a worker runs it: its interceptors, and for each event those that ask for it.
final class CompiledChain {
    /// One interceptor and the calls it takes part in.
    struct Link {
        let name: String
        let condition: Condition?
        /// The outcomes with which it takes part in the end of a call, a bit for each code; 0 is all.
        let codes: UInt32
        let shapes: CallShapes
        let interceptor: any Interceptor
        let events: EventSet
        let isSerial: Bool
        /// Whether what it rejects goes back through the links before it.
        let unwinds: Bool
        /// Whether it runs for each attempt.
        let isPerAttempt: Bool
        /// Whether it is applied again where an attempt before it begins again.
        let runsAgain: Bool
        /// Where the verdicts of the interceptor are counted.
        let counter: InterceptorCounter

        init(_ plan: ChainPlan.Link, on worker: WorkerServices) {
            name = plan.name
            condition = plan.condition
            codes = plan.condition?.codes ?? 0
            shapes = plan.shapes
            interceptor = plan.interceptor.instance(on: worker)
            events = plan.interceptor.events
            isSerial = plan.interceptor.isSerial
            unwinds = plan.unwinds
            isPerAttempt = plan.isPerAttempt
            runsAgain = plan.runsAgain
            counter = worker.counters.interceptor(plan.name)
        }

        /// Whether the calls it is for are not all.
        var isConditional: Bool { condition != nil || shapes != .all }

        /// Whether the call is one of those it is for.
        func applies(to call: Call) -> Bool {
            shapes.contains(call.shape) && condition?.holds(for: call) ?? true
        }
    }

    let links: [Link]
    /// Where the interceptors keep what they know of a call.
    let stateLayout = ValueLayout()
    /// Whether some interceptor wants to know how many messages a call had.
    let countsMessages: Bool
    /// What is kept out of all that is shown of the calls.
    let redactions: Redactions
    /// The links that ask for more of a response than its head, a bit each.
    private(set) var responseMask: UInt64 = 0
    /// The links that see the bytes of responses as they pass, a bit each.
    let byteReaders: UInt64
    /// The links that see the bytes of plain HTTP, a bit each.
    let byteObservers: UInt64
    /// The links that are not for every call, a bit each.
    let conditional: UInt64
    /// The links that are not for every outcome.
    private let coded: UInt64
    /// Those of them that ask for the head of a response: where that waits, they see it when the outcome is known.
    let codedHeads: UInt64
    /// Those of them that ask for its head or its trailers: a response that has trailers in its head has to wait for them.
    let codedFields: UInt64
    /// For each event, the links that ask for it, a bit each.
    private let masks: [UInt64]

    /// Makes the interceptors of a plan, on the worker's thread.
    init(_ plan: ChainPlan, on worker: WorkerServices) {
        let links = plan.links.map { Link($0, on: worker) }
        self.links = links
        masks = (0..<EventSet.RawValue.bitWidth).map { bit in
            let event = EventSet(rawValue: 1 << EventSet.RawValue(bit))
            return Self.bits(links) { $0.events.contains(event) }
        }
        conditional = Self.bits(links) { $0.isConditional }
        byteReaders = Self.bits(links) { $0.events.contains(.responseBytes) }
        byteObservers = Self.bits(links) { $0.events.contains(.plainBytes) }
        coded = Self.bits(links) { $0.codes != 0 }
        codedHeads = Self.bits(links) { $0.codes != 0 && $0.events.contains(.responseHead) }
        codedFields = Self.bits(links) {
            $0.codes != 0 && !$0.events.isDisjoint(with: [.responseHead, .responseTrailers])
        }
        countsMessages = links.contains { $0.events.contains(.messageCounts) }
        redactions = plan.redactions
        responseMask = mask([.responseMessages, .plainBodies, .anyEnd, .retries, .responseBytes]) | codedHeads
        for link in links { addState(of: link.interceptor) }
    }

    private func addState<Kind: Interceptor>(of interceptor: Kind) {
        stateLayout.add(Kind.CallState.self)
    }

    private static func bits(_ links: [Link], _ test: (Link) -> Bool) -> UInt64 {
        links.indices.reduce(0) { test(links[$1]) ? $0 | 1 << UInt64($1) : $0 }
    }

    /// The index of the link that has an interceptor, which is likely the one at `index`.
    func index(of interceptor: some Interceptor, near index: Int) -> Int {
        if index < links.count, links[index].interceptor === interceptor { return index }
        guard let found = links.firstIndex(where: { $0.interceptor === interceptor }) else {
            preconditionFailure("an interceptor keeps state only for calls of its chain")
        }
        return found
    }

    /// The links that ask for an event, a bit each; before the outcome is known, those that are for some outcomes only ask
    /// for nothing.
    func asking(_ event: ChainEvent, _ direction: Direction) -> UInt64 {
        asking(event.asked(direction), code: event.code)
    }

    /// The links that ask for one of the events, a bit each; `code` is the outcome, once it is known.
    func asking(_ events: EventSet, code: UInt8?) -> UInt64 {
        let mask = mask(events)
        guard coded & mask != 0 else { return mask }
        guard let code else { return mask & ~coded }
        return links(of: mask, for: code)
    }

    /// Those of some links that are for an outcome.
    func links(of mask: UInt64, for code: UInt8) -> UInt64 {
        links.indices.reduce(mask) { applies($1, in: code) ? $0 : $0 & ~(1 << UInt64($1)) }
    }

    /// Whether a link is for an outcome.
    func applies(_ index: Int, in code: UInt8) -> Bool {
        coded & 1 << UInt64(index) == 0 || links[index].codes & 1 << UInt32(code) != 0
    }

    /// The links that ask for one of the events, a bit each.
    func mask(_ events: EventSet) -> UInt64 {
        var rest = events.rawValue
        var mask: UInt64 = 0
        while rest != 0 {
            mask |= masks[rest.trailingZeroBitCount]
            rest &= rest - 1
        }
        return mask
    }
}

internal import Bytes
internal import Protocols

/// How far one call has come in its chain.
///
/// The way itself is in Call+Chain.swift: a hook may end the call, so nothing may hold this value while one runs.
struct ChainRun: ~Copyable {
    let chain: CompiledChain
    /// The links that the request has come to, a bit each.
    private(set) var entered: UInt64 = 0
    /// The links before this place are all that the call goes through: the one before it has it served.
    private(set) var end = Int.max
    /// The links that are not to be gone through on the way back: the response was given before them.
    private var passedOver: UInt64 = 0
    /// What the links keep for the call.
    private var states = ValueBlock()
    /// The first link that runs for each attempt of those that the request has come to: a further attempt begins there.
    private(set) var firstPerAttempt: Int?
    /// How far the request's head has come.
    private(set) var reached = 0
    /// The link that decided what the caller gets.
    private(set) var decider: Int?
    /// The link whose hook was called last.
    private(set) var current = 0
    /// How often links have let the call be retried.
    private var retries: [(index: Int, count: Int)] = []
    /// The links that have judged the response that is under way, a bit each.
    private var evaluated: UInt64 = 0

    init(_ chain: CompiledChain) {
        self.chain = chain
    }

    /// The request has come to a link.
    mutating func enter(_ index: Int) {
        entered |= 1 << UInt64(index)
    }

    /// The call is no longer one of a link, which is told nothing more of it.
    mutating func leave(_ index: Int) {
        entered &= ~(1 << UInt64(index))
    }

    /// The request's head has come this far, and no further yet.
    mutating func reach(_ index: Int) {
        reached = index
    }

    /// The call goes no further than to a link.
    mutating func end(at index: Int) {
        end = index + 1
        // It knows what it responds.
        passedOver |= 1 << UInt64(index)
    }

    /// A further attempt begins at a link.
    mutating func mark(_ index: Int) {
        firstPerAttempt = index
    }

    /// A link has decided.
    mutating func decide(_ index: Int) {
        decider = index
    }

    /// What follows is a response that sets out on its way back at the link before `index`.
    mutating func respond(before index: Int) {
        passedOver = ~0 << UInt64(index)
    }

    /// A hook of the link is called.
    mutating func call(_ index: Int) {
        current = index
    }

    /// The link lets the call be retried: what is answered next comes to all links.
    mutating func retry(_ index: Int) {
        passedOver = 0
        evaluated = 0
        decider = nil
        if let entry = retries.firstIndex(where: { $0.index == index }) {
            retries[entry].count += 1
        } else {
            retries.append((index, 1))
        }
    }

    /// The link whose hook was called last evaluates the response; false if it has done so, as at the head of a response whose
    /// end says the same.
    mutating func markEvaluated() -> Bool {
        let bit: UInt64 = 1 << UInt64(current)
        defer { evaluated |= bit }
        return evaluated & bit == 0
    }

    /// How often the link whose hook was called last has let the call be retried.
    var retriesOfCurrent: Int {
        retries.first { $0.index == current }?.count ?? 0
    }

    /// How often the call was retried.
    var retryCount: Int {
        retries.reduce(0) { $0 + $1.count }
    }

    /// The links that are told of the end of the call, a bit each.
    var linksToFinish: UInt64 {
        let links = chain.mask(.finished) & entered
        guard !retries.isEmpty else { return links }
        return links | chain.mask(.finishedRetries) & retries.reduce(0) { $0 | 1 << UInt64($1.index) }
    }

    /// Whether the request has come to the link.
    func hasEntered(_ index: Int) -> Bool {
        entered & 1 << UInt64(index) != 0
    }

    /// The links that are gone through in a direction, a bit each.
    func links(_ direction: Direction) -> UInt64 {
        direction == .request ? entered : entered & ~passedOver
    }

    /// The interceptor of a link.
    func interceptor(_ index: Int) -> any Interceptor { chain.links[index].interceptor }

    /// What a link keeps for the call.
    func state<Link: Interceptor>(of link: Link) -> Link.CallState? {
        states.value(at: chain.index(of: link, near: current), in: chain.stateLayout)
    }

    /// Where a link stands.
    func index<Link: Interceptor>(of link: Link) -> Int { chain.index(of: link, near: current) }

    /// Takes what a link keeps, which then keeps nothing.
    mutating func takeState<Link: Interceptor>(of link: Link) -> Link.CallState? {
        states.take(at: chain.index(of: link, near: current), in: chain.stateLayout)
    }

    /// Keeps something for a link that keeps nothing.
    mutating func put<Link: Interceptor>(_ state: Link.CallState, of link: Link) {
        states.put(state, at: chain.index(of: link, near: current), in: chain.stateLayout)
    }

    /// The call is over: nothing is kept for it.
    mutating func releaseStates() {
        states.release(to: chain.stateLayout)
    }

    /// Whether a link that the response goes through asks for one of the events.
    func responseMeets(_ events: EventSet) -> Bool {
        chain.mask(events) & entered & ~passedOver != 0
    }

    /// Whether a link that the response goes through asks for more of it than its head.
    var readsResponse: Bool {
        chain.responseMask & entered & ~passedOver != 0
    }

    /// Whether a link that the response goes through is to change its head, or the trailers in that, for some outcomes only.
    var waitsForOutcome: Bool {
        chain.codedFields & entered & ~passedOver != 0
    }

    /// Whether a link that the request has come to asks for one of the events.
    func requestMeets(_ events: EventSet) -> Bool {
        chain.mask(events) & entered != 0
    }
}

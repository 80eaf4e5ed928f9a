package import Time

/// Whether one address of an upstream gets calls: what has become of those before, as a pure value.
///
/// An address is out for a pause when so many calls in a row have failed as the settings say. When the pause is over, one
/// call is a probe: its success brings the address back, its failure doubles the pause. An address that cannot be connected
/// to is out until a connection is made; a probe is a connection then, for which no call waits. Besides, an address is out
/// as long as its health checks fail.
package struct AddressHealth: Sendable {
    /// Why an address is out.
    package enum Reason: Equatable, Sendable {
        /// No connection can be made.
        case connect
        /// Its calls fail.
        case calls
        /// Its health checks fail.
        case health
    }

    /// How the pauses go.
    package struct Pauses: Equatable, Sendable {
        /// The first one.
        package let first: Duration
        /// The longest.
        package let max: Duration

        /// Describes pauses.
        package init(first: Duration, max: Duration) { (self.first, self.max) = (first, max) }

        /// Those after a connection that could not be made.
        package static let connect = Pauses(first: Duration.second, max: 60 * Duration.second)
    }

    /// What is known of an address that is out.
    package struct Out: Equatable, Sendable {
        /// Why.
        package let reason: Reason
        /// Since when.
        package let since: Instant
        /// When the next probe is due.
        package fileprivate(set) var until: Instant
        fileprivate var pause: Duration
        fileprivate let max: Duration
    }

    /// What is known of the address if it is out.
    package private(set) var out: Out?
    /// How many calls in a row have failed.
    package private(set) var failures = 0
    /// Since when its health checks say that it gets no calls, if they do.
    package private(set) var downSince: Instant?

    /// An address that nothing is known of.
    package init() {}

    /// Whether it gets no call now.
    package func isOut(at now: Instant) -> Bool {
        isDown || out.map { $0.reason == .connect || now < $0.until } ?? false
    }

    /// Whether its health checks say that it gets no calls.
    package var isDown: Bool { downSince != nil }

    /// Why it is out, be it that a probe is due; none if it is in.
    package var reason: Reason? { isDown ? .health : out?.reason }

    /// Since when it is out, if it is.
    package var since: Instant? { [downSince, out?.since].compactMap { $0 }.min() }

    /// Whether a call has failed, so that a success is worth being told, or it is out.
    package var isTroubled: Bool { failures > 0 || out != nil || isDown }

    /// Whether another failure puts it out, if so many in a row do.
    package func willEject(at limit: Int) -> Bool { out == nil && failures + 1 >= limit }

    /// A call goes to the address, or a connection is about to be made.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - chance: a number from 0 up to 1, so that workers and sidecars do not probe at once.
    /// - Returns: whether it is a probe, which has the time of a pause for itself.
    package mutating func admit(at now: Instant, chance: Double) -> Bool {
        guard let out, now >= out.until else { return false }
        self.out?.until = now + Self.spread(out.pause, chance)
        return true
    }

    /// No connection could be made.
    ///
    /// - Returns: whether the address is out since then, and was not before.
    package mutating func connectFailed(at now: Instant, wasProbe: Bool, chance: Double) -> Bool {
        fail(.connect, .connect, at: now, wasProbe: wasProbe, chance)
    }

    /// A connection has been made.
    ///
    /// - Returns: whether the address is back by that.
    package mutating func connected() -> Bool {
        guard out?.reason == .connect else { return false }
        reset()
        return !isDown
    }

    /// A call has failed.
    ///
    /// - Parameters:
    ///   - limit: how many in a row put the address out; none never does.
    ///   - mayGo: whether the address may be put out, as others are in.
    ///   - pauses: how long it is out.
    ///   - now: the time.
    ///   - wasProbe: whether the call was a probe.
    ///   - chance: a number from 0 up to 1.
    /// - Returns: whether the address is out since then, and was not before.
    package mutating func failed(
        limit: Int?,
        mayGo: Bool,
        _ pauses: Pauses,
        at now: Instant,
        wasProbe: Bool,
        chance: Double
    ) -> Bool {
        guard out == nil else { return fail(.calls, pauses, at: now, wasProbe: wasProbe, chance) }
        failures += 1
        guard let limit, failures >= limit, mayGo else { return false }
        return fail(.calls, pauses, at: now, wasProbe: false, chance)
    }

    /// A call has succeeded.
    ///
    /// - Returns: whether the address is back by that.
    package mutating func succeeded(wasProbe: Bool) -> Bool {
        failures = 0
        guard wasProbe, out != nil else { return false }
        reset()
        return !isDown
    }

    /// Its health checks have come to something.
    ///
    /// - Returns: whether it is out by that and was in before, or the other way round.
    package mutating func checked(isDown: Bool, at now: Instant) -> Bool {
        guard self.isDown != isDown else { return false }
        downSince = isDown ? now : nil
        return out == nil
    }

    private mutating func reset() { (out, failures) = (nil, 0) }

    private mutating func fail(
        _ reason: Reason,
        _ pauses: Pauses,
        at now: Instant,
        wasProbe: Bool,
        _ chance: Double
    ) -> Bool {
        failures = 0
        guard let known = out else {
            let until = now + Self.spread(pauses.first, chance)
            out = Out(reason: reason, since: now, until: until, pause: pauses.first, max: pauses.max)
            return !isDown
        }
        // What began before it was out says nothing new.
        guard wasProbe else { return false }
        let pause = min(2 * known.pause, known.max)
        out?.pause = pause
        out?.until = now + Self.spread(pause, chance)
        return false
    }

    /// A pause that is up to a fifth shorter or longer.
    private static func spread(_ pause: Duration, _ chance: Double) -> Duration {
        .nanoseconds(Int64(Double(pause.nanoseconds) * (0.8 + 0.4 * chance)))
    }
}

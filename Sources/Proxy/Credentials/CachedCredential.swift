internal import Configuration
internal import Events
internal import TLS
internal import Telemetry
internal import Time

/// One credential as a worker knows it.
final class CachedCredential {
    let source: CredentialSource
    /// Whether the configuration names it.
    var isNamed = false
    /// Whether a configuration of before has named it.
    var isRetired = false
    /// The value, good or not.
    private(set) var value: [UInt8]?
    /// Counts the values, so that what is made of one can be kept until the next.
    private(set) var version = 0
    /// Values of before, which calls under way may have.
    private var former: [[UInt8]] = []
    /// The upstreams that have rejected the value, until it is known whether there is another.
    private var rejectedBy: [String] = []
    /// Why the last fetch has brought none.
    private(set) var error: CredentialError?
    private let loop: EventLoop?
    private let send: (CredentialRequest) -> Void
    /// Until when the value is used, and from when on another is ordered, by the loop's clock.
    private var end = Instant.max
    private var refresh = Instant.max
    private var retry = Instant.min
    /// The wall time at which the value ends, if that is known.
    private var expiry: WallTime?
    private var isRequested = false
    private var waiting: [Int: () -> Void] = [:]
    private var nextWaiting = 0

    private static let maxFormer = 4

    init(_ source: CredentialSource, on loop: EventLoop?, send: @escaping (CredentialRequest) -> Void) {
        self.source = source
        self.loop = loop
        self.send = send
        if case .fixed(let value) = source {
            update(CredentialState(Credential(value: value, expiry: JWT.expiry(of: value)), at: .epoch))
        }
    }

    /// Whether an upstream may get the value.
    func isGood(for upstream: Upstream?) -> Bool {
        (rejectedBy.isEmpty || !isRejected(by: upstream)) && isGood
    }

    /// Whether an upstream has rejected the value, and it is not known yet whether there is another.
    func isRejected(by upstream: Upstream?) -> Bool { rejectedBy.contains(upstream.name) }

    /// Whether the value has not ended; one that ends soon is ordered anew meanwhile.
    private var isGood: Bool {
        guard let loop, value != nil else { return value != nil }
        guard loop.now < end else { return false }
        if loop.now >= refresh, !isRequested { request() }
        return true
    }

    /// Whether to wait so long would be in vain: nobody fetches it, or not so soon, and it is not a file whose content is to
    /// change.
    func cannotSucceed(within timeout: Duration) -> Bool {
        guard source.isFetched else { return value == nil || !source.mayChange }
        guard let error else { return false }
        let now = loop?.now ?? .start
        return retry > (error.isRejection ? now : now.adding(saturating: timeout))
    }

    /// What is wrong where there is no value that may be used, in words.
    var lack: String {
        var description = ""
        if case .file(let path) = source { description = " in \(path)" }
        let reason = error.map { ": \($0.text)" } ?? ""
        guard value != nil, let expiry, let loop, loop.now >= end else {
            return "there is no token\(description)\(reason)"
        }
        let verb = Clock.wall < expiry ? "expires" : "expired"
        return "the token\(description) \(verb) at \(TimestampFormatter.text(expiry))\(reason)"
    }

    /// Whether calls wait for it.
    var isAwaited: Bool { !waiting.isEmpty }

    /// Whether a value is, or was, one of it.
    func hasBeen(_ value: [UInt8]) -> Bool {
        // The caller may have sent it, to find out.
        ([self.value].compactMap { $0 } + former).contains { ConstantTime.areEqual($0.span, value.span) }
    }

    /// Requests the credential.
    func request() {
        guard source.isFetched, !isRequested else { return }
        isRequested = true
        send(.fetch(source))
    }

    /// An upstream has rejected this value.
    func rejected(_ value: [UInt8], by upstream: Upstream?) {
        guard self.value == value, source.mayChange, !isRejected(by: upstream) else { return }
        rejectedBy.append(upstream.name)
        isRequested = true
        send(.rejected(source, value: value, by: upstream.name))
    }

    /// An upstream has accepted the value, having rejected the one before.
    func accepted(by upstream: Upstream?) {
        guard source.isFetched else { return }
        send(.accepted(source, by: upstream.name))
    }

    private func change(_ new: [UInt8]?) {
        if let value { former = former.suffix(Self.maxFormer - 1) + [value] }
        value = new
        version += 1
    }

    /// Takes what is known of it now, and tells those that wait.
    func update(_ state: CredentialState) {
        isRequested = false
        if !state.isSuspect || value != state.credential?.value { rejectedBy = [] }
        error = state.error
        expiry = state.credential?.expiry
        end = .max
        refresh = .max
        retry = state.error?.isRejection == true ? .max : .min
        if value != state.credential?.value {
            change(state.credential?.value)
        }
        if let loop, state.credential != nil {
            if state.usableUntil < .max { end = loop.clock.instant(of: state.usableUntil) }
            if let refresh = state.refresh { self.refresh = loop.clock.instant(of: refresh) }
        }
        if let loop, let time = state.retry { retry = loop.clock.instant(of: time) }
        // One that is told may end another that waits: that is not to be told then.
        for number in waiting.keys.sorted() { waiting[number]?() }
        if isAwaited, !isGood || !rejectedBy.isEmpty { request() }
    }

    /// Calls `action` whenever something else is known of the credential, until `leave`; gives what to leave by.
    func wait(_ action: @escaping () -> Void) -> Int {
        nextWaiting += 1
        waiting[nextWaiting] = action
        return nextWaiting
    }

    /// Somebody waits no more.
    func leave(_ number: Int) {
        waiting[number] = nil
    }
}

extension Upstream? {
    /// What rejections are counted by; the same on all workers, and after a reload.
    fileprivate var name: String { self?.settings.name ?? "" }
}

extension CredentialSource {
    /// Whether another value may come.
    var mayChange: Bool {
        if case .fixed = self { false } else { true }
    }
}

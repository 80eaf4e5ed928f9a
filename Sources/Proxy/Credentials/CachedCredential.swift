internal import Configuration
public import Credentials
internal import Events
public import Time

/// One credential on a worker: requests what its `CredentialView` lacks, and tells the calls that wait.
public final class CachedCredential {
    let source: CredentialSource
    /// Whether the configuration names it.
    var naming = CredentialNaming.never
    private var view = CredentialView()
    private let loop: EventLoop
    private let send: (CredentialRequest) -> Void
    private var waiting: [Int: () -> Void] = [:]
    private var nextWaiting = 0

    /// Makes one of which nothing is known; `send` receives what the main thread should do.
    init(_ source: CredentialSource, on loop: EventLoop, send: @escaping (CredentialRequest) -> Void) {
        self.source = source
        self.loop = loop
        self.send = send
        if case .fixed(let value) = source {
            let credential = Credential(value: value, expiry: JWT.expiry(of: value))
            view.update(CredentialState(credential, at: loop.now, loop.clock.wall))
        }
    }

    /// The value, good or not.
    public var value: [UInt8]? { view.value }

    /// Counts the values, so that what is made of one can be kept until the next.
    public var version: Int { view.version }

    /// Why the last fetch has brought none.
    public var error: CredentialError? { view.state.error }

    /// Whether calls wait for it.
    var isAwaited: Bool { !waiting.isEmpty }

    /// Whether an upstream may get the value.
    public func isGood(for upstream: Upstream?) -> Bool {
        (!view.isRejected || !isRejected(by: upstream)) && isGood
    }

    /// Whether an upstream has rejected the value, and it is not known yet whether there is another.
    public func isRejected(by upstream: Upstream?) -> Bool { view.isRejected(by: upstream.name) }

    /// Whether the value has not ended; one that ends soon is requested meanwhile.
    private var isGood: Bool {
        let now = loop.now
        guard now < view.goodUntil else { return false }
        if now >= view.dueFrom, !view.isRequested { request() }
        return true
    }

    /// Whether to wait so long would be in vain: nobody fetches it, or not so soon, and it is not a file whose content is to
    /// change.
    public func cannotSucceed(within timeout: Duration) -> Bool {
        guard source.isFetched else { return value == nil || !source.mayChange }
        return view.cannotSucceed(at: loop.now, within: timeout)
    }

    /// What is wrong where there is no value that may be used, in words.
    public var lack: String {
        var description = ""
        if case .file(let path) = source { description = " in \(path)" }
        let reason = error.map { ": \($0.text)" } ?? ""
        guard let expiry = view.state.credential?.expiry, loop.now >= view.state.usableUntil else {
            return "there is no token\(description)\(reason)"
        }
        let verb = loop.clock.wall < expiry ? "expires" : "expired"
        return "the token\(description) \(verb) at \(TimestampFormatter.text(expiry))\(reason)"
    }

    /// Whether a value is, or was, one of it.
    public func hasBeen(_ value: [UInt8]) -> Bool { view.hasBeen(value) }

    /// Requests the credential.
    public func request() {
        if source.isFetched, view.request() { send(.fetch(source)) }
    }

    /// An upstream has rejected this value.
    public func rejected(_ value: [UInt8], by upstream: Upstream?) {
        guard source.mayChange, let rejection = view.reject(value, by: upstream.name) else { return }
        send(.rejected(source, value: value, rejection))
    }

    /// An upstream has accepted the value, having rejected the one before.
    public func accepted(by upstream: Upstream?) {
        guard source.isFetched else { return }
        send(.accepted(source, by: upstream.name))
    }

    /// A state has come from the main thread.
    func update(_ state: CredentialState) {
        view.update(state)
        // One that is told may end another that waits: that is not to be told then.
        for number in waiting.keys.sorted() { waiting[number]?() }
        if isAwaited, !isGood || view.isRejected { request() }
    }

    /// Notes that states may have come that it has not been told.
    func missedStates() { view.missedStates() }

    /// Calls `action` whenever something else is known of the credential, until `leave`; gives what to leave by.
    public func wait(_ action: @escaping () -> Void) -> Int {
        nextWaiting += 1
        waiting[nextWaiting] = action
        return nextWaiting
    }

    /// Somebody waits no more.
    public func leave(_ number: Int) {
        waiting[number] = nil
    }
}

extension Upstream? {
    /// What rejections are counted by; the same on all workers, and after a reload.
    fileprivate var name: String { self?.settings.name ?? "" }
}

extension CredentialSource {
    /// Whether another value may come.
    public var mayChange: Bool {
        if case .fixed = self { false } else { true }
    }
}

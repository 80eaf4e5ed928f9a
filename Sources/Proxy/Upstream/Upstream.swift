internal import Bytes
internal import Configuration
internal import Events
internal import HTTP
internal import Telemetry

/// One upstream as a worker sees it: its settings and its pool of connections.
///
/// It lives as long as some generation in use names it, and stays through reloads that do not change its settings.
final class Upstream {
    let settings: UpstreamSettings
    /// The name as logs write it.
    let name: [UInt8]
    let context: WireContext
    let network: any Network
    let addressBook: AddressBook
    let counter: UpstreamCounter
    let limits = HTTPLimits()
    let connectTimeout: Nanoseconds?
    let firstByteTimeout: Nanoseconds?
    let callTimeout: Nanoseconds?
    /// What the request's authority becomes; nil where the caller's stays.
    let authority: [UInt8]?
    /// Whether what is sent there cannot be read on the way: it does not leave the machine.
    let isConfidential: Bool

    private let idleTimeout: Nanoseconds?
    private var idle: [UpstreamConnection] = []
    private var open = 0
    private var dials: [Dial] = []
    private var waiting: [Attempt] = []
    private var isDraining = false

    init(
        _ settings: UpstreamSettings,
        context: WireContext,
        network: any Network,
        names: NameService,
        counter: UpstreamCounter
    ) {
        self.settings = settings
        name = Array(settings.name.utf8)
        self.context = context
        self.network = network
        self.counter = counter
        addressBook = AddressBook(settings.url.endpoint, names: names, loop: context.loop)
        connectTimeout = settings.timeouts.connect.map { Nanoseconds($0) }
        firstByteTimeout = settings.timeouts.firstByte.map { Nanoseconds($0) }
        callTimeout = settings.timeouts.call.map { Nanoseconds($0) }
        idleTimeout = settings.timeouts.idle.map { Nanoseconds($0) }
        isConfidential = settings.url.isLoopback
        authority = settings.authority.map { Array($0.utf8) }
    }

    /// Finds a connection for the attempt: an idle one at once, or else one that is made or becomes free.
    func acquire(for attempt: Attempt) {
        if let connection = idle.popLast() {
            connection.idlePosition = nil
            return attempt.connected(connection)
        }
        // A call whose connection is being made waits for that alone, not for another call to end.
        let queued = waiting.count - dials.count
        guard queued < settings.limits.waiting || open + dials.count < settings.limits.connections else {
            return attempt.failed(.tooManyWaiting)
        }
        waiting.append(attempt)
        dialIfNeeded()
    }

    /// The attempt waits no more.
    func withdraw(_ attempt: Attempt) {
        let before = waiting.count
        waiting.removeAll { $0 === attempt }
        if waiting.count < before, dials.count > waiting.count { dials.removeLast().cancel() }
    }

    /// Makes no new connections for later: idle ones close now, the others after their exchange.
    func drain() {
        isDraining = true
        for connection in idle { connection.drain() }
    }

    private func dialIfNeeded() {
        guard dials.count < waiting.count, open + dials.count < settings.limits.connections else { return }
        let dial = Dial(for: self)
        dials.append(dial)
        dial.start()
    }

    // MARK: What dials and connections tell

    func finished(_ dial: Dial, _ result: Result<UpstreamConnection, UpstreamFailure>) {
        dials.removeAll { $0 === dial }
        switch result {
        case .success(let connection):
            open += 1
            place(connection)
        case .failure(let failure):
            guard !waiting.isEmpty else { return }
            waiting.removeFirst().failed(failure)
            dialIfNeeded()
        }
    }

    func becameIdle(_ connection: UpstreamConnection) {
        place(connection)
    }

    func closed(_ connection: UpstreamConnection) {
        open -= 1
        if let position = connection.idlePosition {
            idle.remove(at: position)
            for index in position..<idle.count { idle[index].idlePosition = index }
        }
        dialIfNeeded()
    }

    private func place(_ connection: UpstreamConnection) {
        if !waiting.isEmpty { return waiting.removeFirst().connected(connection) }
        guard !isDraining else { return connection.drain() }
        connection.idlePosition = idle.count
        idle.append(connection)
        connection.close(after: idleTimeout)
    }
}

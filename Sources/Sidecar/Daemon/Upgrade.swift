internal import Events
internal import Time

/// What the new process says to the old one.
enum UpgradeMessage: Equatable {
    /// It can serve, and waits for its turn.
    case ready
    /// Its workers accept calls.
    case serving
    /// It cannot; lines for people say why.
    case failed([String])

    init(_ text: String) {
        switch text {
        case Self.ready.text: self = .ready
        case Self.serving.text: self = .serving
        default: self = .failed(text.split(separator: "\n").map(String.init))
        }
    }

    var text: String {
        switch self {
        case .ready: "ready"
        case .serving: "serving"
        case .failed(let lines): lines.joined(separator: "\n")
        }
    }
}

/// What the old process says to the new one.
enum TurnMessage: String {
    /// Its workers are to accept calls.
    case serve
    /// The old one accepts no more: the sockets, and the service, are those of the new one.
    case own
    /// The service is to stop, which it was told while the turn was under way.
    case stop
}

/// A new process of this program that is to take the place of this one, until it serves or has failed.
///
/// Belongs to the main thread.
final class Upgrade {
    /// The number of the new process.
    let process: Int32
    /// How long a stop of the service waits for the turn.
    private static let shortTurn = 5 * Duration.second
    /// How long a new process may take to end that has said that it cannot serve.
    private static let endLimit = 2 * Duration.second
    private let channel: StatusChannel
    private let loop: EventLoop
    private let kill: () -> Void
    private var timer: Timer?
    private var hasTurn = false
    /// Why the new process cannot serve, as it says itself.
    private var reasons: [String]?
    private var done: ((Result<Int32, ConfigurationFile.Rejection>) -> Void)?

    /// Waits for a new process that was started.
    ///
    /// - Parameters:
    ///   - process: its number.
    ///   - channel: what it says comes there.
    ///   - loop: the loop of the main thread.
    ///   - limit: the time within which it must be ready, and then serve.
    ///   - kill: ends it.
    ///   - done: called once, with its number when it serves.
    init(
        _ process: Int32,
        _ channel: StatusChannel,
        on loop: EventLoop,
        limit: Duration,
        kill: @escaping () -> Void,
        done: @escaping (Result<Int32, ConfigurationFile.Rejection>) -> Void
    ) {
        (self.process, self.channel, self.loop, self.kill, self.done) = (process, channel, loop, kill, done)
        channel.listen(on: loop) { [unowned self] text in
            switch text.map(UpgradeMessage.init) {
            case .ready:
                self.hasTurn = true
                // What it accepts from now on must not be cut off for the time that it took to get ready.
                self.timer?.arm(after: limit)
                channel.send(TurnMessage.serve.rawValue)
            case .serving: finish(.success(process))
            case .failed(let lines):
                // It ends by itself, after it has logged why.
                reasons = lines
                self.timer?.arm(after: Self.endLimit)
            case nil: abandon(reasons ?? ["the new process has ended; its log says why"])
            }
        }
        let timer = Timer(on: loop.timers) { [unowned self] in
            abandon(reasons ?? ["the new process was not ready within \(limit.text)"])
        }
        self.timer = timer
        timer.arm(after: limit)
    }

    /// Whether the new process does not serve yet.
    var isPending: Bool { done != nil }

    /// Whether the new process does not serve yet, and may accept calls already.
    var isTurning: Bool { hasTurn && isPending }

    /// Ends a new process that does not serve yet.
    func abandon(_ reason: String) {
        abandon([reason])
    }

    /// Kills the new process and what it has started: a child of a script would keep the listening sockets.
    private func abandon(_ reasons: [String]) {
        guard isPending else { return }
        kill()
        finish(.failure(.init(lines: reasons)))
    }

    /// The new process is the only one from now on; it ends as well if the service is to stop.
    func complete(stops: Bool) {
        channel.send(TurnMessage.own.rawValue)
        if stops { channel.send(TurnMessage.stop.rawValue) }
    }

    /// Whoever stops the service waits for the turn: it is given up soon if the new process does not serve.
    func hurry() {
        timer?.arm(after: Self.shortTurn)
    }

    private func finish(_ result: Result<Int32, ConfigurationFile.Rejection>) {
        timer?.cancel()
        channel.stopListening()
        // It may be this one's timer or channel that leads here, and nobody may want it afterwards.
        loop.keep(self)
        done.take()?(result)
    }
}

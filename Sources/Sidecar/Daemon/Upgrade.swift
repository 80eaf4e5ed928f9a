internal import Events
internal import Time

/// What the new process says to the old one.
enum UpgradeMessage: Equatable {
    /// It can serve, and waits for its turn.
    case ready
    /// It cannot; lines for people say why.
    case failed([String])

    init(_ text: String) {
        self = text == Self.ready.text ? .ready : .failed(text.split(separator: "\n").map(String.init))
    }

    var text: String {
        switch self {
        case .ready: "ready"
        case .failed(let lines): lines.joined(separator: "\n")
        }
    }
}

/// A new process of this program that is to take the place of this one, until it can or has failed.
///
/// Belongs to the main thread.
final class Upgrade {
    /// The number of the new process.
    let process: Int32
    private let channel: StatusChannel
    private var timer: Timer?
    private var done: ((Result<Int32, ConfigurationFile.Rejection>) -> Void)?

    /// Waits for a new process that was started; `done` is called once, with its number when it can serve.
    ///
    /// One that is not ready after `limit` is ended by `kill`.
    init(
        _ process: Int32,
        _ channel: StatusChannel,
        on loop: EventLoop,
        limit: Duration,
        kill: @escaping () -> Void,
        done: @escaping (Result<Int32, ConfigurationFile.Rejection>) -> Void
    ) {
        (self.process, self.channel, self.done) = (process, channel, done)
        channel.listen(on: loop) { [unowned self] text in
            switch text.map(UpgradeMessage.init) {
            case .ready: finish(.success(process))
            case .failed(let lines): finish(.failure(.init(lines: lines)))
            case nil: finish(.failure(.init(lines: ["the new process has ended; its log says why"])))
            }
        }
        let timer = Timer(on: loop.timers) { [unowned self] in
            kill()
            finish(.failure(.init(lines: ["the new process was not ready within \(limit.text)"])))
        }
        self.timer = timer
        timer.arm(after: limit)
    }

    /// It is the turn of the new process.
    func giveTurn() {
        channel.send("go")
    }

    private func finish(_ result: Result<Int32, ConfigurationFile.Rejection>) {
        timer?.cancel()
        channel.end()
        done.take()?(result)
    }
}

internal import Events
private import Glibc

/// The process whose place this one takes, if it was started by `martlet upgrade`.
///
/// Belongs to the main thread.
final class Predecessor {
    private let channel: StatusChannel

    /// Takes the variable from the environment, so that no child sees it; nil if there is none.
    init?() {
        guard let descriptor = Environment.value(StatusChannel.variable).flatMap({ Int32($0) }) else { return nil }
        unsafe unsetenv(StatusChannel.variable)
        channel = StatusChannel(adopting: descriptor)
    }

    /// Waits for what the other process says; `heard` is called with each message.
    ///
    /// It is called with nil if the other one goes on without this process, or has ended: whoever starts the service anew must
    /// not find another process on its sockets.
    func listen(on loop: EventLoop, _ heard: @escaping (TurnMessage?) -> Void) {
        var hasPlace = false
        channel.listen(on: loop) { [channel] text in
            let message = text.flatMap(TurnMessage.init)
            if message == nil || message == .stop { channel.stopListening() }
            // Once this one has its place, the other one may end.
            if message != nil || !hasPlace { heard(message) }
            if message == .own { hasPlace = true }
        }
    }

    /// This process cannot serve.
    func failed(_ lines: [String]) {
        send(.failed(lines))
    }

    /// This process can serve, or does.
    func send(_ message: UpgradeMessage) {
        channel.send(message.text)
    }
}

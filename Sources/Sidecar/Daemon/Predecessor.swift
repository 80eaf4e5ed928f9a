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

    /// This process cannot serve.
    func failed(_ lines: [String]) {
        channel.send(UpgradeMessage.failed(lines).text)
    }

    /// This process can serve; `turn` is called when the other one accepts no more calls, or is gone.
    func ready(on loop: EventLoop, turn: @escaping () -> Void) {
        channel.listen(on: loop) { [channel] _ in
            channel.end()
            turn()
        }
        channel.send(UpgradeMessage.ready.text)
    }
}

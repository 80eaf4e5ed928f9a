internal import Proxy
internal import Telemetry

/// What somebody on the main thread gets of what the workers publish.
final class Subscription {
    /// What it is subscribed to.
    let topic: Topic
    /// Where the lines of each worker wait, by the index of the worker.
    let handovers: [LineHandover]
    private var onItem: ((LineBuffer.Item) -> Void)?

    /// Makes one; `onItem` is called with each line of any worker, and where some are missing with their number.
    init(to topic: Topic, _ handovers: [LineHandover], onItem: @escaping (LineBuffer.Item) -> Void) {
        self.topic = topic
        self.handovers = handovers
        self.onItem = onItem
    }

    /// Hands on what waits of one worker.
    func deliver(from index: Int) {
        var waiting = handovers[index].removeAll()
        while let onItem, let item = waiting.removeFirst() { onItem(item) }
    }

    /// Nothing is handed on any more.
    func cancel() {
        onItem = nil
    }
}

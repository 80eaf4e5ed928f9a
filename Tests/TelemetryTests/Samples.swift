import Bytes
import Time

@testable import Telemetry

extension WorkerCounters {
    /// Counts a whole call to `/service/method`, admitting the method if it answered.
    func call(
        _ service: String,
        _ method: String,
        _ callProtocol: CallProtocol = .connect,
        code: UInt8 = 0,
        duration: Duration = .millisecond,
        messages: MessageCounts = MessageCounts(received: 1, sent: 1),
        exists: Bool = true,
        route: RouteCounter = .number(0)
    ) {
        let path = Array("/\(service)/\(method)".utf8)
        var call = start(path.span, callProtocol)
        if exists {
            admit(&call, path: path.span, service: Array(service.utf8).span, method: Array(method.utf8).span)
        }
        end(call, route: route, code: code, duration: duration, messages: messages)
    }
}

extension CountersSnapshot {
    /// The lines of the text format that are samples and begin with `prefix`.
    func lines(_ prefix: String) -> [String] {
        let families = families(codeNames: ["ok", "canceled", "unknown"])
        return text { PrometheusText(to: $0).append(families) }
            .split(separator: "\n")
            .map(String.init)
            .filter { $0.hasPrefix(prefix) }
    }
}

/// What `write` appends to a queue.
func text(_ write: (ByteQueue) -> Void) -> String {
    let queue = ByteQueue()
    write(queue)
    return queue.readable.string
}

internal import Bytes
internal import Events
internal import Protocols
internal import Telemetry
internal import Types

/// Counts the fields that are left out of converted messages, since their types do not have them, and says so in the log.
final class UnknownFields: Sendable {
    /// The methods that the log has had, by direction and path.
    private let logged = Locked<Set<String>>([])

    /// Counts those of the message that the worker has converted last.
    func count(of method: MethodType, _ direction: Direction, _ worker: Worker) {
        let count = worker.messageCodec.unknownFields
        guard count > 0 else { return }
        worker.counters.unknownFields(count, ofRequest: direction == .request)
        let path = method.path.span.string
        guard logged.withLock({ $0.insert("\(direction) \(path)").inserted }) else { return }
        worker.logLimiter.note(
            "fields left out of a \(direction) message: their type does not have them",
            about: path,
            [
                ("method", path),
                ("type", direction == .request ? method.request.name : method.response.name),
                ("fields", "\(count)"),
            ]
        )
    }
}

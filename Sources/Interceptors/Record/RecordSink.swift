internal import Events
internal import Proxy
internal import Time

/// Where a worker's documents go: those of a turn of the loop together, in the order in which their calls began.
///
/// Calls that end in different turns stand in the order of their ends; to wait for the calls that began before them would
/// keep everything behind one long stream.
final class RecordSink: EndOfTurn {
    /// So many bytes do not wait for the end of the turn.
    private static let maxBytes = 256 * 1024

    private let writer: LineWriter?
    private let worker: WorkerServices
    private var documents: [(start: Instant, text: [UInt8])] = []
    private var bytes = 0

    init(_ plan: RecordPlan, on worker: WorkerServices) {
        self.worker = worker
        writer = worker.lineWriters?.writer(toTape: plan.path, maxSize: plan.limit)
    }

    /// Adds the document of a call.
    func write(_ document: [UInt8], startedAt start: Instant) {
        if documents.isEmpty { worker.atEndOfTurn(self) }
        documents.append((start, document))
        bytes += document.count
        if bytes > Self.maxBytes { endOfTurn() }
    }

    /// Hands the documents of this turn to the writer.
    func endOfTurn() {
        for document in documents.sorted(by: { $0.start < $1.start }) where writer?.write(document.text) == false {
            worker.linesDropped(1)
        }
        documents.removeAll()
        bytes = 0
    }
}
